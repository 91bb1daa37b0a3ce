/**
 * What a channel has told, and what it tells next: one record for each channel.
 * Pure; supervisor/notify/lane.ts does it.
 *
 * The record is a cursor into the log, not a queue. What waits (for quiet hours
 * to end, for more to come, for a receiver that is down) is read from the log
 * again: items that were opened after the cursor and not closed, acknowledged or
 * put off since. Before something is sent, `sending` is committed with its id.
 * After it was sent, `sending` is null again. So a daemon that was killed in
 * between sends it once more, under the same id.
 *
 * `told`: what was told although the cursor had to stay behind, because an older
 * item is held until quiet hours end. An item that is opened again after that is
 * news: it was put off, became more urgent or came true again.
 */
import type { LoggedEvent } from "../session/event.ts";
import type { InboxEvent } from "../session/home-event.ts";
import { INBOX_URGENCIES, type InboxUrgency } from "../session/inbox-kind.ts";
import { defineKind } from "../session/record-kind.ts";
import { count, instant, listOf, object, type Of, oneOf, orNull, positive, text } from "../session/shape.ts";
import { isOpened, mostUrgent, type OpenedItem } from "./notification.ts";
import type { ChannelWishes } from "./notification-settings.ts";
import { isQuiet, quietEndsAt } from "./quiet-hours.ts";

const toldShape = object({ itemId: text, seq: count });

const outboxShape = object({
  /** The channel's name. */
  id: text,
  revision: positive,
  /** What came up to this event is told, or was not for this channel. */
  cursor: count,
  told: listOf(toldShape),
  sending: orNull(
    object({
      id: text,
      /** Those that are named; `count` is of all. */
      items: listOf(toldShape),
      count: positive,
      urgency: oneOf(...INBOX_URGENCIES),
      attempts: count,
      begunAt: instant,
      nextAt: instant,
    }),
  ),
  lastSentAt: orNull(instant),
  /** Null again when something was sent. */
  lastFailure: orNull(object({ at: instant, why: text })),
});

export type Outbox = Of<typeof outboxShape>;

export const outboxKind = defineKind<Outbox>({
  name: "notification-outbox",
  parse(value) {
    if (!outboxShape.is(value)) throw new Error("it does not describe what a notification channel has sent");
    return value;
  },
});

/** Everything that decides what waits. */
export const INBOX_EVENTS = [
  "inbox-opened",
  "inbox-closed",
  "inbox-acknowledged",
  "inbox-snoozed",
] as const satisfies readonly InboxEvent["type"][];

/** Several that come within so long are one notification. */
export const GATHER_MS = 2_000;
const FIRST_RETRY_MS = 1_000;
export const LONGEST_RETRY_MS = 600_000;
const GIVE_UP_AFTER_MS = 86_400_000;
/** More are counted, and not remembered one by one. */
const MOST_WAITING = 500;
const MOST_TOLD = 1_000;
const MOST_NAMED = 20;
/** Events of all kinds. */
const WORTH_A_COMMIT = 1_000;

/** A channel that is new is told what happens from now on. */
export function newOutbox(channel: string, cursor: number): Outbox {
  return { id: channel, revision: 1, cursor, told: [], sending: null, lastSentAt: null, lastFailure: null };
}

/** What the log holds beyond the cursor, as far as it was read. */
export interface Gathered {
  readonly through: number;
  /** By item, oldest first. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Those that are waiting, too, and were too many. */
  readonly overflow: number;
}

export interface Waiting {
  readonly seq: number;
  readonly at: number;
  readonly urgency: InboxUrgency;
}

export function nothingGathered({ cursor }: Outbox): Gathered {
  return { through: cursor, waiting: new Map(), overflow: 0 };
}

export function gather(
  outbox: Outbox,
  before: Gathered,
  events: readonly LoggedEvent[],
  isFor: (event: OpenedItem) => boolean,
): Gathered {
  const waiting = new Map(before.waiting);
  const told = new Map(outbox.told.map(({ itemId, seq }) => [itemId, seq]));
  let { overflow, through } = before;
  for (const event of events) {
    if (event.seq <= through) continue;
    through = event.seq;
    if (isOpened(event)) {
      const { itemId, urgency } = event.body;
      if (event.seq <= (told.get(itemId) ?? 0) || !isFor(event)) continue;
      // Opened again before it was told: its newest words, as soon as the first would have been told.
      waiting.set(itemId, { seq: event.seq, at: waiting.get(itemId)?.at ?? event.at, urgency });
      if (waiting.size > MOST_WAITING) {
        const [oldest = ""] = waiting.keys();
        waiting.delete(oldest);
        overflow += 1;
      }
    } else if (isCleared(event)) {
      waiting.delete(event.body.itemId);
    }
  }
  return { through, waiting, overflow };
}

type ClearedItem = LoggedEvent & { readonly body: Exclude<InboxEvent, { readonly type: "inbox-opened" }> };

function isCleared(event: LoggedEvent): event is ClearedItem {
  return INBOX_EVENTS.some((type) => type === event.body.type) && !isOpened(event);
}

export type NextStep =
  | { readonly do: "nothing" }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "begin"; readonly items: readonly (readonly [string, Waiting])[] }
  | { readonly do: "send" };

export function nextStep(
  { sending, lastSentAt }: Outbox,
  gathered: Gathered,
  { quiet, quietExcept, minIntervalMs }: ChannelWishes,
  now: number,
): NextStep {
  const isHeld = quiet !== null && isQuiet(quiet, now);
  const held = (): NextStep => ({ do: "wait", until: quiet === null ? now : quietEndsAt(quiet, now) });
  if (sending !== null) {
    if (isHeld && !quietExcept.includes(sending.urgency)) return held();
    return isDue(sending.nextAt, LONGEST_RETRY_MS, now) ? { do: "send" } : { do: "wait", until: sending.nextAt };
  }
  const items = [...gathered.waiting].filter(([, { urgency }]) => !isHeld || quietExcept.includes(urgency));
  const [first] = items;
  if (first === undefined) return gathered.waiting.size === 0 ? { do: "nothing" } : held();
  const dueAt = Math.max(first[1].at + GATHER_MS, (lastSentAt ?? -Infinity) + minIntervalMs);
  return isDue(dueAt, Math.max(GATHER_MS, minIntervalMs), now) ? { do: "begin", items } : { do: "wait", until: dueAt };
}

/** What is further away than anybody asked for was planned before somebody set the clock back. */
function isDue(at: number, longestMs: number, now: number): boolean {
  return now >= at || at - now > longestMs;
}

/** The intent. Only where nothing is left behind does the cursor move. */
export function begun(
  outbox: Outbox,
  gathered: Gathered,
  items: readonly (readonly [string, Waiting])[],
  about: { readonly id: string; readonly now: number },
): Outbox {
  const isAll = items.length === gathered.waiting.size;
  const added = items.map(([itemId, { seq }]) => ({ itemId, seq }));
  const before = outbox.told.filter(({ itemId }) => !added.some((one) => one.itemId === itemId));
  const sending = {
    id: about.id,
    items: added.slice(-MOST_NAMED),
    count: items.length + (isAll ? gathered.overflow : 0),
    urgency: mostUrgent(items.map(([, { urgency }]) => urgency)),
    attempts: 0,
    begunAt: about.now,
    nextAt: about.now,
  };
  return {
    ...outbox,
    revision: outbox.revision + 1,
    cursor: isAll ? gathered.through : outbox.cursor,
    told: isAll ? [] : [...before, ...added].slice(-MOST_TOLD),
    sending,
  };
}

/** The same after it: the items do not wait any more. */
export function withoutBegun(
  gathered: Gathered,
  outbox: Outbox,
  items: readonly (readonly [string, Waiting])[],
): Gathered {
  const waiting = new Map(gathered.waiting);
  for (const [itemId] of items) waiting.delete(itemId);
  return { ...gathered, waiting, overflow: outbox.cursor === gathered.through ? 0 : gathered.overflow };
}

/** Nothing waits, and a daemon that starts need not read so far back; null where that is not worth a commit. */
export function caughtUp(outbox: Outbox, { waiting, through }: Gathered): Outbox | null {
  if (waiting.size > 0 || through - outbox.cursor < WORTH_A_COMMIT) return null;
  return { ...outbox, revision: outbox.revision + 1, cursor: through, told: [] };
}

/** The fact. */
export function sent(outbox: Outbox, now: number): Outbox {
  return { ...outbox, revision: outbox.revision + 1, sending: null, lastSentAt: now, lastFailure: null };
}

/** Nobody needs it any more. */
export function dropped(outbox: Outbox): Outbox {
  return { ...outbox, revision: outbox.revision + 1, sending: null };
}

/** It is tried again later, until it has been tried for a day. */
export function failed(
  outbox: Outbox,
  why: string,
  { now, random }: { readonly now: number; readonly random: number },
): { readonly outbox: Outbox; readonly isGivenUp: boolean } {
  const { sending } = outbox;
  const isGivenUp = sending !== null && now - sending.begunAt >= GIVE_UP_AFTER_MS;
  const next = { ...outbox, revision: outbox.revision + 1, lastFailure: { at: now, why } };
  if (sending === null || isGivenUp) return { outbox: { ...next, sending: null }, isGivenUp };
  const attempts = sending.attempts + 1;
  const nextAt = now + retryDelayMs(attempts, random);
  return { outbox: { ...next, sending: { ...sending, attempts, nextAt } }, isGivenUp };
}

/** Twice as long each time, and never two receivers in step: from three quarters of it to all. */
export function retryDelayMs(attempts: number, random: number): number {
  const whole = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 20));
  return Math.round(whole * (0.75 + random / 4));
}

/** Of what comes after it, only this decides whether what is being told is moot. */
export function clearsSending({ sending }: Outbox, event: LoggedEvent): boolean {
  return (
    isCleared(event) &&
    sending?.items.some(({ itemId, seq }) => itemId === event.body.itemId && event.seq > seq) === true
  );
}

/** Whether all of it was closed, acknowledged or put off since. */
export function isMoot({ sending }: Outbox, clearing: readonly LoggedEvent[]): boolean {
  if (sending === null || sending.count > sending.items.length) return false;
  const cleared = new Set(clearing.filter(isCleared).map(({ body }) => body.itemId));
  return sending.items.every(({ itemId }) => cleared.has(itemId));
}
