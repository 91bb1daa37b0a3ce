/**
 * The operator's inbox, as it is recorded: one item for each thing that needs a
 * person. What should be in it is decided from the sessions' records
 * (inbox-condition.ts); here is what an item is, and what becomes of it. It is
 * pure, and knows neither the store nor the clock.
 *
 * An item is made once for what it is about: its id follows from that, and it
 * keeps its number for good, so that "3" never means something else. It is
 * stored under `live` until what it is about is over, then under `closed`; what
 * is shown is found without reading the rest.
 */
import { createHash } from "node:crypto";
import type { InboxEvent } from "../session/home-event.ts";
import { INBOX_ANSWERS, INBOX_KINDS, INBOX_URGENCIES, type InboxKind } from "../session/inbox-kind.ts";
import { defineKind } from "../session/record-kind.ts";
import { count, instant, listOf, object, type Of, oneOf, orNull, positive, text } from "../session/shape.ts";

export const INBOX_STATES = ["open", "acknowledged", "snoozed", "closed"] as const;
export type InboxState = (typeof INBOX_STATES)[number];

/** The groups that items are stored under. */
export const LIVE = "live";
export const CLOSED = "closed";

const condition = {
  /** Follows from what it is about (`itemIdOf`). */
  id: text,
  /** Null: it is about the home. */
  sessionId: orNull(text),
  kind: oneOf(...INBOX_KINDS),
  urgency: oneOf(...INBOX_URGENCIES),
  /** What happened, in one line that makes sense alone. */
  title: text,
  /** What happened, what Reeve did about it and what it suggests: whole sentences. */
  happened: text,
  did: text,
  suggests: text,
  answers: listOf(oneOf(...INBOX_ANSWERS)),
  /** The question that it is about; null where it is about none. */
  approvalId: orNull(text),
  /** Whoever has seen the item has seen the session's news up to this revision. */
  newsRevision: count,
  /** Since when it is so. */
  sinceAt: instant,
};
const conditionShape = object(condition);

/** Something that needs a person, as it is right now. */
export type Condition = Of<typeof conditionShape>;

const itemShape = object({
  ...condition,
  revision: positive,
  /** By which the operator names it. */
  number: positive,
  openedAt: instant,
  state: oneOf(...INBOX_STATES),
  /** Put off at this moment, until that one; null in any other state. */
  snoozed: orNull(object({ at: instant, untilAt: instant })),
  closed: orNull(object({ at: instant, why: text })),
});
export type InboxItem = Of<typeof itemShape>;

export const inboxKind = defineKind<InboxItem>({
  name: "inbox-item",
  parse(value) {
    if (!itemShape.is(value)) throw new Error("it does not describe an item of the inbox");
    return value;
  },
  groupOf: ({ state }) => (state === "closed" ? CLOSED : LIVE),
});

const countShape = object({ id: oneOf("inbox"), revision: positive, last: count });
/** The last number that an item was given. There is one such record. */
export type InboxCount = Of<typeof countShape>;

export const inboxCountKind = defineKind<InboxCount>({
  name: "inbox-count",
  parse(value) {
    if (!countShape.is(value)) throw new Error("it does not say which number was given last");
    return value;
  },
});

/** The same for the same thing, whoever asks and whenever: nothing is opened twice. */
export function itemIdOf(sessionId: string | null, kind: InboxKind, cause: string | number): string {
  const print = createHash("sha256")
    .update(JSON.stringify([sessionId, kind, cause]))
    .digest("hex");
  return `inbox-${print.slice(0, 10)}`;
}

export interface ChangedItem {
  readonly item: InboxItem;
  /** Null: nobody needs to hear of it. */
  readonly event: InboxEvent | null;
}

export function opened(condition: Condition, number: number, at: number): ChangedItem {
  const item: InboxItem = {
    ...condition,
    revision: 1,
    number,
    openedAt: at,
    state: "open",
    snoozed: null,
    closed: null,
  };
  return { item, event: openedEvent(item) };
}

/** It came true again, became more urgent, or was put off until now: it is told like a new one, under its id and number. */
export function reopened(item: InboxItem, at: number, condition: Condition = item): ChangedItem {
  const openedAt = item.state === "closed" ? at : item.openedAt;
  const next: InboxItem = {
    ...nextOf({ ...item, ...condition }),
    openedAt,
    state: "open",
    snoozed: null,
    closed: null,
  };
  return { item: next, event: openedEvent(next) };
}

/**
 * It is the same thing, and more or less of it: an approval that nobody answers,
 * a disk that fills up. What gets worse is told again, unless it was put off.
 * Null: nothing changed.
 */
export function updated(item: InboxItem, condition: Condition, at: number): ChangedItem | null {
  if (item.kind === condition.kind && item.urgency === condition.urgency) return null;
  const isWorse = rankOf(condition) <= rankOf(item);
  if (isWorse && item.state !== "snoozed") return reopened(item, at, condition);
  return { item: nextOf({ ...item, ...condition }), event: null };
}

export function closed(item: InboxItem, why: string, at: number): ChangedItem {
  const next: InboxItem = { ...nextOf(item), state: "closed", snoozed: null, closed: { at, why } };
  return { item: next, event: { type: "inbox-closed", itemId: item.id, kind: item.kind, why } };
}

export function acknowledged(item: InboxItem): ChangedItem {
  const next: InboxItem = { ...nextOf(item), state: "acknowledged", snoozed: null };
  return { item: next, event: { type: "inbox-acknowledged", itemId: item.id } };
}

export function snoozed(item: InboxItem, at: number, untilAt: number): ChangedItem {
  const next: InboxItem = { ...nextOf(item), state: "snoozed", snoozed: { at, untilAt } };
  return { item: next, event: { type: "inbox-snoozed", itemId: item.id, untilAt } };
}

/** What Reeve did about it and what it suggests, for whoever reads nothing else. */
export function textOf({ happened, did, suggests }: Condition): string {
  return [happened, did, suggests].filter((sentence) => sentence !== "").join(" ");
}

/** Blocked, failed, finished, then the rest; of each, what has waited longest. */
export function byUrgency(one: InboxItem, other: InboxItem): number {
  return rankOf(one) - rankOf(other) || one.sinceAt - other.sinceAt || one.number - other.number;
}

function rankOf({ urgency }: Condition): number {
  return INBOX_URGENCIES.indexOf(urgency);
}

function openedEvent(item: InboxItem): InboxEvent {
  const { id, kind, urgency, title } = item;
  return { type: "inbox-opened", itemId: id, kind, urgency, title, text: textOf(item) };
}

function nextOf(item: InboxItem): InboxItem {
  return { ...item, revision: item.revision + 1 };
}
