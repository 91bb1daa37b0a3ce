/**
 * One channel at work: follows the log from the cursor in its outbox, and sends
 * one notification at a time. It waits for nobody but its own receiver, and for
 * that not longer than TIMEOUT_MS, so no channel holds up another, a commit or a
 * caller. What to do next is decided in fleet/outbox.ts; what is in memory here
 * can be read from the log again.
 */
import {
  isOpened,
  isWanted,
  type Notification,
  notificationOf,
  type OpenedItem,
  type SessionLookup,
} from "../../fleet/notification.ts";
import type { NotificationChannel } from "../../fleet/notification-settings.ts";
import {
  begun,
  caughtUp,
  clearsSending,
  dropped,
  failed,
  gather,
  type Gathered,
  INBOX_EVENTS,
  isMoot,
  newOutbox,
  type NextStep,
  nextStep,
  nothingGathered,
  type Outbox,
  outboxKind,
  sent,
  withoutBegun,
} from "../../fleet/outbox.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { newNotificationId } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { LoggedEvent } from "../../session/event.ts";
import type { HomeEvent } from "../../session/home-event.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import type { Send } from "./sender.ts";

export interface LaneParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly sessionOf: SessionLookup;
}

export interface Lane {
  /** Something came into the log, or time has passed. */
  poke(): void;
  view(): LaneView;
  /** Sends it now, beside what is under way; says in a part of a sentence what came of it. */
  attempt(notification: Notification): Promise<Attempt>;
  /** What is being sent is given up, to be sent by the next daemon. */
  close(): Promise<void>;
}

export interface LaneView {
  readonly channel: NotificationChannel;
  readonly pending: number;
  readonly lastSentAt: number | null;
  /** Since then nothing was sent. */
  readonly failure: { readonly at: number; readonly why: string } | null;
  /** When something that waits is looked at again; null where nothing does. */
  readonly nextAt: number | null;
}

export interface Attempt {
  readonly isSent: boolean;
  readonly what: string;
}

/** Longer than any receiver needs that works; all of them answer in milliseconds. */
const TIMEOUT_MS = 10_000;
/** However long something waits: after a sleep of the machine it is not late by more. */
const LOOK_AGAIN_MS = 60_000;
const PAGE = 1_000;

export function createLane(channel: NotificationChannel, send: Send, parts: LaneParts): Lane {
  const { store, clock, scheduler, log } = parts;
  const records = store.records(outboxKind);
  const closing = new AbortController();
  const purpose = `notify ${channel.name}`;
  let outbox: Outbox | null = null;
  let gathered: Gathered | null = null;
  let next: NextStep = { do: "nothing" };
  /** Of the lane itself, such as a full disk. */
  let trouble: LaneView["failure"] = null;
  let working: Promise<void> | null = null;
  let isPoked = false;

  function poke(): void {
    if (closing.signal.aborted) return;
    isPoked = true;
    working ??= work().finally(() => (working = null));
  }

  async function work(): Promise<void> {
    try {
      while (isPoked && !closing.signal.aborted) {
        isPoked = false;
        await step();
      }
      trouble = null;
    } catch (error) {
      trouble = { at: clock.now(), why: messageOf(error) };
      log("a notification channel failed, trying again", { channel: channel.name, why: error });
      // What was committed counts, not what was meant to be.
      outbox = null;
      later(LOOK_AGAIN_MS);
    }
  }

  async function step(): Promise<void> {
    const { record, known } = await catchUp();
    next = nextStep(record, known, channel, clock.now());
    switch (next.do) {
      case "nothing":
        return;
      case "wait":
        return later(Math.min(LOOK_AGAIN_MS, Math.max(1, next.until - clock.now())));
      case "begin":
        await begin(record, known, next.items);
        break;
      case "send":
        await deliver(record);
        break;
    }
    isPoked = true;
  }

  function later(ms: number): void {
    scheduler.after(null, purpose, ms, poke);
  }

  async function catchUp(): Promise<{ readonly record: Outbox; readonly known: Gathered }> {
    let record = outbox ?? (await load());
    let known = outbox === null || gathered === null ? nothingGathered(record) : gathered;
    const isFor = (event: OpenedItem): boolean => isWanted(channel, event, parts.sessionOf(event.sessionId));
    for await (const page of pages(known.through)) known = gather(record, known, page, isFor);
    const moved = caughtUp(record, known);
    if (moved !== null) record = await commit(moved);
    outbox = record;
    gathered = known;
    return { record, known };
  }

  async function load(): Promise<Outbox> {
    return (await records.get(channel.name)) ?? (await commit(newOutbox(channel.name, store.log.head())));
  }

  async function* pages(after: number): AsyncGenerator<readonly LoggedEvent[]> {
    for (let from = after; ;) {
      const page = await store.log.read({ after: from, limit: PAGE, types: INBOX_EVENTS });
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
      from = page.at(-1)?.seq ?? from;
    }
  }

  async function commit(record: Outbox, ...events: readonly HomeEvent[]): Promise<Outbox> {
    await store.commit({
      changes: [outboxKind.put(record)],
      events: events.map((body) => ({ sessionId: null, body })),
    });
    return record;
  }

  /** The intent, before anything leaves the machine. */
  async function begin(
    record: Outbox,
    known: Gathered,
    items: Extract<NextStep, { readonly do: "begin" }>["items"],
  ): Promise<void> {
    failpoint("notify.before-intent");
    outbox = await commit(begun(record, known, items, { id: newNotificationId(), now: clock.now() }));
    gathered = withoutBegun(known, outbox, items);
    failpoint("notify.after-intent");
  }

  /** The fact, after it has. */
  async function deliver(record: Outbox): Promise<void> {
    const notification = await notificationIn(record);
    if (notification === null) {
      outbox = await commit(dropped(record));
      return;
    }
    const { isSent, what } = await attempt(notification);
    if (closing.signal.aborted) return;
    failpoint("notify.after-send");
    if (isSent) outbox = await commit(sent(record, clock.now()));
    else outbox = await fail(record, what);
  }

  async function fail(record: Outbox, why: string): Promise<Outbox> {
    const { sending } = record;
    const outcome = failed(record, why, { now: clock.now(), random: Math.random() });
    if (sending === null || !outcome.isGivenUp) return await commit(outcome.outbox);
    const { id: notificationId, count, attempts } = sending;
    const about = { channel: channel.name, notificationId, count, attempts: attempts + 1, why };
    return await commit(outcome.outbox, { type: "notification-abandoned", ...about });
  }

  /** As the log tells it; null where nobody needs it any more. */
  async function notificationIn(record: Outbox): Promise<Notification | null> {
    const { sending } = record;
    if (sending === null) return null;
    const oldest = Math.min(...sending.items.map(({ seq }) => seq));
    const clearing: LoggedEvent[] = [];
    for await (const page of pages(oldest)) clearing.push(...page.filter((event) => clearsSending(record, event)));
    if (isMoot(record, clearing)) return null;
    const opened: OpenedItem[] = [];
    for (const { seq } of sending.items) {
      const [event] = await store.log.read({ after: seq - 1, limit: 1, types: ["inbox-opened"] });
      if (event !== undefined && isOpened(event) && event.seq === seq) opened.push(event);
    }
    const [first, ...others] = opened;
    return first === undefined ? null : notificationOf(sending, [first, ...others], parts.sessionOf);
  }

  async function attempt(notification: Notification): Promise<Attempt> {
    const giveUp = new AbortController();
    const timer = `notify-timeout ${channel.name} ${notification.id}`;
    const stop = (): void => giveUp.abort();
    closing.signal.addEventListener("abort", stop);
    const givenUp = new Promise<Attempt>((resolve) => {
      const what = `it did not answer within ${TIMEOUT_MS / 1_000} s`;
      giveUp.signal.addEventListener("abort", () => resolve({ isSent: false, what }));
    });
    scheduler.after(null, timer, TIMEOUT_MS, stop);
    try {
      const sending = send(notification, giveUp.signal).then(
        (what) => ({ isSent: true, what }),
        (error: unknown) => ({ isSent: false, what: messageOf(error) }),
      );
      // Given up first: what is aborted also fails, in words that help nobody.
      return await Promise.race([givenUp, sending]);
    } finally {
      scheduler.cancel(null, timer);
      closing.signal.removeEventListener("abort", stop);
    }
  }

  return {
    poke,
    attempt,
    view: () => ({
      channel,
      pending: (outbox?.sending?.count ?? 0) + (gathered === null ? 0 : gathered.waiting.size + gathered.overflow),
      lastSentAt: outbox?.lastSentAt ?? null,
      failure: trouble ?? outbox?.lastFailure ?? null,
      nextAt: next.do === "wait" ? next.until : null,
    }),
    async close() {
      closing.abort();
      scheduler.cancel(null, purpose);
      await working;
    },
  };
}
