/**
 * Keeps the operator's inbox: the only writer of its items (fleet/inbox.ts).
 * After each commit it compares what a session needs a person for with what is
 * open for it, and commits the difference with its events. Nothing else is kept
 * of what was noticed, so a daemon that was killed anywhere catches up at the
 * next start: an item is there once, or is opened then.
 */
import {
  acknowledged,
  type ChangedItem,
  closed,
  type InboxCount,
  inboxCountKind,
  type InboxItem,
  inboxKind,
  LIVE,
  opened,
  reopened,
  snoozed,
  updated,
} from "../../fleet/inbox.ts";
import { conditionsOf, type Due } from "../../fleet/inbox-condition.ts";
import { whyOver } from "../../fleet/inbox-text.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Log } from "../../platform/log.ts";
import { signature } from "../../session/caller.ts";
import { isEnded } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Wish } from "../ledger/ledger.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { forgetOldest, lastClosed, MOST_CLOSED } from "./closed-items.ts";
import { createLiveItems, type Subject } from "./live-items.ts";
import { createPatience } from "./patience.ts";

export interface Inbox {
  /** At the start of the daemon: what is open. */
  load(): Promise<void>;
  /** From now on items are opened and closed, first for what the last daemon left. */
  start(): void;
  /** Something about this session, or the home (null), may have changed. */
  poke(subject: Subject): void;
  /** Resolves when everything that was told so far is in it. */
  settled(): Promise<void>;
  /** Those that are not closed, in no order. */
  items(): readonly InboxItem[];
  /** By its id or its number; one that was closed long ago only by its id. */
  find(reference: string): Promise<InboxItem | undefined>;
  /** The last that were opened and are closed, newest first. */
  closed(limit: number): Promise<readonly InboxItem[]>;
  /** What answers one item is done one after another. */
  answering<Result>(itemId: string, answer: () => Promise<Result>): Promise<Result>;
  /** Both: the item as it is then; undefined where it is closed by now. */
  acknowledge(itemId: string, wish: Wish): Promise<InboxItem | undefined>;
  snooze(itemId: string, untilAt: number, wish: Wish): Promise<InboxItem | undefined>;
  close(): Promise<void>;
}

/** What needs a person and belongs to no session: a disk, the limit of an account. Whoever changes it calls `poke(null)`. */
export interface HomeSource {
  /** Null: not known yet. Until all are known, no item about the home is opened or closed. */
  conditions(): readonly Due[] | null;
}

/** What comes within this is one commit; what is answered at once, by a rule, is no item at all. */
const GATHER_MS = 100;
const TRY_AGAIN_MS = 10_000;
/** Items in one commit. */
const MOST_AT_ONCE = 100;
const FORGET_EVERY_MS = 86_400_000;
const QUEUE = "inbox";

export function createInbox(parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly homeSources: readonly HomeSource[];
}): Inbox {
  const { store, clock, scheduler, log } = parts;
  const records = store.records(inboxKind);
  const counts = store.records(inboxCountKind);
  const queue = createKeyedQueue();
  const answers = createKeyedQueue();
  const patience = createPatience(clock);
  const live = createLiveItems();
  const dirty = new Set<Subject>();
  /** Closed for good, although what they are about is still so. */
  const spent = new Map<Subject, ReadonlySet<string>>();
  let numbers: InboxCount | null = null;
  /** The last number that was given, also to what is not committed yet. */
  let lastNumber = 0;
  let isStarted = false;

  function poke(subject: Subject): void {
    dirty.add(subject);
    const session = subject === null ? undefined : store.registry.get(subject);
    // What it started has nobody else to tell now.
    if (session !== undefined && isEnded(session))
      for (const { id } of store.registry.childrenOf(session.id)) dirty.add(id);
    if (isStarted) scheduler.atMost(null, "inbox", GATHER_MS, () => void settled());
  }

  function settled(): Promise<void> {
    return queue.run(QUEUE, async () => {
      if (!isStarted || dirty.size === 0) return;
      const subjects = [...dirty];
      dirty.clear();
      try {
        const changes: ChangedItem[] = [];
        for (const subject of subjects) changes.push(...(await changesOf(subject)));
        await commit(changes);
      } catch (error) {
        log("the inbox could not be brought up to date, trying again", { why: error });
        for (const subject of subjects) dirty.add(subject);
        await load().catch((problem: unknown) => log("the inbox could not be read", { why: problem }));
        scheduler.atMost(null, "inbox", TRY_AGAIN_MS, () => void settled());
      }
    });
  }

  async function changesOf(subject: Subject): Promise<readonly ChangedItem[]> {
    const at = clock.now();
    const conditions = conditionsNow(subject);
    if (conditions === null) return [];
    const { ready, leftMs } = patience.judge(subject, conditions, (id) => live.get(id) !== undefined);
    if (leftMs === null) scheduler.cancel(subject, "inbox-due");
    else scheduler.after(subject, "inbox-due", leftMs, () => poke(subject));
    const ids = new Set(conditions.map(({ condition }) => condition.id));
    const session = subject === null ? undefined : store.registry.get(subject);
    const over = live.of(subject).filter(({ id }) => !ids.has(id));
    const changes = over.map((item) => closed(item, whyOver(item, session), at));
    const spentNow = new Set<string>();
    for (const due of ready) {
      const change = await changeFor(due, at, spent.get(subject));
      if (change === "spent") spentNow.add(due.condition.id);
      else if (change !== null) changes.push(change);
    }
    if (spentNow.size === 0) spent.delete(subject);
    else spent.set(subject, spentNow);
    return changes;
  }

  async function changeFor(
    { condition, isOnce }: Due,
    at: number,
    spentBefore: ReadonlySet<string> | undefined,
  ): Promise<ChangedItem | "spent" | null> {
    const item = live.get(condition.id);
    if (item !== undefined) return updated(item, condition, at);
    if (spentBefore?.has(condition.id) === true) return "spent";
    const before = await records.get(condition.id);
    if (before === undefined) return opened(condition, ++lastNumber, at);
    if (before.state !== "closed") throw new Error(`item ${before.id} is stored and was not read`);
    return isOnce === true ? "spent" : reopened(before, at, condition);
  }

  function conditionsNow(subject: Subject): readonly Due[] | null {
    if (subject === null) {
      const found = parts.homeSources.map((source) => source.conditions());
      return found.includes(null) ? null : found.flatMap((some) => some ?? []);
    }
    const session = store.registry.get(subject);
    if (session === undefined) return [];
    const { parentId } = session.identity;
    const parent = parentId === null ? undefined : store.registry.get(parentId);
    return conditionsOf(session, {
      hasMessages: store.mailbox.open(subject).length > 0,
      hasParent: parent !== undefined && !isEnded(parent),
    });
  }

  async function commit(changes: readonly ChangedItem[], wish?: Wish): Promise<void> {
    for (let from = 0; from < changes.length; from += MOST_AT_ONCE) {
      const some = changes.slice(from, from + MOST_AT_ONCE);
      const last = Math.max(numbers?.last ?? 0, ...some.map(({ item }) => item.number));
      const isCounted = last !== numbers?.last;
      const next: InboxCount = { id: "inbox", revision: (numbers?.revision ?? 0) + 1, last };
      failpoint("inbox.before-commit");
      await store.commit({
        changes: [...some.map(({ item }) => inboxKind.put(item)), ...(isCounted ? [inboxCountKind.put(next)] : [])],
        events: some.flatMap(({ item, event }) =>
          event === null ? [] : [{ sessionId: item.sessionId, body: event, ...by(wish) }],
        ),
        ...(wish?.idempotency === undefined ? {} : { idempotency: wish.idempotency }),
      });
      failpoint("inbox.after-commit");
      if (isCounted) numbers = next;
      for (const { item } of some) keep(item);
    }
  }

  function keep(item: InboxItem): void {
    live.put(item);
    if (item.snoozed === null) scheduler.cancel(null, `snooze ${item.id}`);
    else remind(item, item.snoozed);
  }

  /** Wall time decides only how long to wait, and never longer than was asked for: a clock jump cannot lose an item. */
  function remind({ id }: InboxItem, { at, untilAt }: { readonly at: number; readonly untilAt: number }): void {
    const left = Math.min(Math.max(0, untilAt - clock.now()), Math.max(0, untilAt - at));
    const isDue = (item: InboxItem): boolean => item.snoozed?.at === at && item.snoozed.untilAt === untilAt;
    const comeBack = (): void => {
      change(id, (item) => (isDue(item) ? reopened(item, clock.now()) : null)).catch((error: unknown) => {
        log("an item could not be brought back, trying again", { item: id, why: error });
        scheduler.after(null, `snooze ${id}`, TRY_AGAIN_MS, comeBack);
      });
    };
    scheduler.after(null, `snooze ${id}`, left, comeBack);
  }

  function change(
    itemId: string,
    make: (item: InboxItem) => ChangedItem | null,
    wish?: Wish,
  ): Promise<InboxItem | undefined> {
    return queue.run(QUEUE, async () => {
      const item = live.get(itemId);
      const changed = item === undefined ? null : make(item);
      if (changed === null) return item;
      await commit([changed], wish);
      return changed.item;
    });
  }

  async function load(): Promise<void> {
    const [items, count] = await Promise.all([records.list(LIVE), counts.get("inbox")]);
    numbers = count ?? null;
    lastNumber = count?.last ?? 0;
    live.clear();
    for (const item of items) keep(item);
  }

  function forget(): void {
    queue
      .run(QUEUE, () => forgetOldest(store))
      .catch((error: unknown) => log("old items of the inbox could not be removed", { why: error }));
    scheduler.after(null, "inbox-forget", FORGET_EVERY_MS, forget);
  }

  return {
    load,
    poke,
    settled,
    items: () => live.all(),
    answering: (itemId, answer) => answers.run(itemId, answer),
    async find(reference) {
      const isMeant = ({ id, number }: InboxItem): boolean => id === reference || String(number) === reference;
      return (
        live.all().find(isMeant) ??
        (await records.get(reference)) ??
        (await lastClosed(store, MOST_CLOSED)).find(isMeant)
      );
    },
    closed: (limit) => lastClosed(store, limit),
    acknowledge: (itemId, wish) =>
      change(itemId, (item) => (item.state === "acknowledged" ? null : acknowledged(item)), wish),
    snooze: (itemId, untilAt, wish) => change(itemId, (item) => snoozed(item, clock.now(), untilAt), wish),
    start() {
      isStarted = true;
      for (const { id } of store.registry.all()) dirty.add(id);
      // Also of sessions that are not known any more.
      for (const { sessionId } of live.all()) poke(sessionId);
      poke(null);
      forget();
    },
    async close() {
      isStarted = false;
      await queue.idle();
    },
  };
}

function by(wish: Wish | undefined): Partial<ReturnType<typeof signature>> {
  return wish === undefined ? {} : signature(wish.caller);
}
