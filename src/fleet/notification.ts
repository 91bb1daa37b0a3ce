/**
 * What the operator is told outside of Reeve: one item of the inbox, or how many
 * there are if several came together. Pure. The texts come from agents, so they
 * are made plain and short here, for every channel.
 */
import { stripTerminal } from "../platform/terminal-text.ts";
import type { LoggedEvent } from "../session/event.ts";
import type { InboxEvent } from "../session/home-event.ts";
import { INBOX_URGENCIES, type InboxKind, type InboxUrgency } from "../session/inbox-kind.ts";
import { clipped } from "./mail.ts";
import type { ChannelWishes } from "./notification-settings.ts";

export interface Notification {
  /** The same each time it is sent: a receiver knows by it what it has had. */
  readonly id: string;
  readonly kind: InboxKind | "summary" | "test";
  readonly urgency: InboxUrgency;
  /** One line. */
  readonly title: string;
  readonly text: string;
  readonly session: NotifiedSession | null;
  readonly at: number;
  /** How many items it is about; not all of them need be in `items`. */
  readonly count: number;
  readonly items: readonly NotifiedItem[];
}

export interface NotifiedSession {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

export interface NotifiedItem {
  readonly id: string;
  readonly kind: InboxKind;
  readonly urgency: InboxUrgency;
  readonly title: string;
  readonly session: NotifiedSession | null;
}

export type SessionLookup = (sessionId: string | null) => NotifiedSession | null;

export type OpenedItem = LoggedEvent & { readonly body: Extract<InboxEvent, { readonly type: "inbox-opened" }> };

export const MOST_TITLE_CHARACTERS = 200;
const MOST_TEXT_CHARACTERS = 2_000;
/** A summary names so many; the rest it counts. */
const NAMED_IN_SUMMARY = 5;

export function isOpened(event: LoggedEvent): event is OpenedItem {
  return event.body.type === "inbox-opened";
}

/** Whether this channel is for it. What is about no session is nobody's role. */
export function isWanted(wishes: ChannelWishes, { body }: OpenedItem, session: NotifiedSession | null): boolean {
  const { kinds, urgencies, roles, mutedRoles } = wishes;
  if (kinds !== null && !kinds.includes(body.kind)) return false;
  if (urgencies !== null && !urgencies.includes(body.urgency)) return false;
  if (session === null) return true;
  return (roles === null || roles.includes(session.role)) && !mutedRoles.includes(session.role);
}

/** Of at least one item, oldest first. */
export function notificationOf(
  about: { readonly id: string; readonly count: number },
  opened: readonly [OpenedItem, ...OpenedItem[]],
  sessionOf: SessionLookup,
): Notification {
  const items = opened.map(({ body, sessionId }) => ({
    id: body.itemId,
    kind: body.kind,
    urgency: body.urgency,
    title: oneLine(body.title),
    session: sessionOf(sessionId),
  }));
  const [first] = opened;
  const urgency = mostUrgent(items.map((item) => item.urgency));
  const common = { id: about.id, urgency, at: first.at, count: about.count, items };
  if (about.count > 1) return { ...common, ...summaryOf(items, about.count) };
  return {
    ...common,
    kind: first.body.kind,
    title: titled(items[0]?.session ?? null, oneLine(first.body.title)),
    text: paragraph(first.body.text),
    session: items[0]?.session ?? null,
  };
}

export function testNotification(id: string, channel: string, at: number): Notification {
  return {
    id,
    kind: "test",
    urgency: "other",
    title: "Reeve: a test",
    text: `This is a test of the channel ${channel}. Nothing needs you.`,
    session: null,
    at,
    count: 0,
    items: [],
  };
}

export function mostUrgent(urgencies: readonly InboxUrgency[]): InboxUrgency {
  return INBOX_URGENCIES.find((known) => urgencies.includes(known)) ?? "other";
}

/** What is most urgent is named first. */
function summaryOf(
  items: readonly NotifiedItem[],
  count: number,
): Pick<Notification, "kind" | "title" | "text" | "session"> {
  const sorted = INBOX_URGENCIES.flatMap((urgency) => items.filter((item) => item.urgency === urgency));
  const named = sorted.slice(0, NAMED_IN_SUMMARY).map(({ session, title }) => titled(session, title));
  const left = count - named.length;
  const counted = left > 0 ? [...named, `and ${left} more: reeve inbox`] : named;
  const [first = null, ...others] = new Set(items.map(({ session }) => session?.id ?? null));
  return {
    kind: "summary",
    title: `${count} things need you`,
    text: paragraph(counted.join("\n")),
    session: first !== null && others.length === 0 && count === items.length ? (items[0]?.session ?? null) : null,
  };
}

function titled(session: NotifiedSession | null, title: string): string {
  return session === null ? title : clipped(`${session.name}: ${title}`, MOST_TITLE_CHARACTERS);
}

function oneLine(text: string): string {
  return clipped(stripTerminal(text).replace(/\s+/g, " ").trim(), MOST_TITLE_CHARACTERS);
}

function paragraph(text: string): string {
  return clipped(stripTerminal(text).trim(), MOST_TEXT_CHARACTERS);
}
