/**
 * Which mail a reader asks for, and in which order it is shown: unread before
 * the rest, by priority within that, and newest first. The mail of one
 * recipient is a list of groups (`groupOf`) that are read one after another; a
 * page ends at a place in one of them.
 */
import { groupOf, type Mail, MAIL_BOXES, MAIL_PRIORITIES, type MailKind } from "./mail.ts";

export interface MailSearch {
  readonly recipient: string;
  readonly isUnreadOnly: boolean;
  readonly hasArchived: boolean;
  readonly kind?: MailKind | undefined;
  readonly thread?: string | undefined;
  /** The id or the name of a session, or `operator`. */
  readonly from?: string | undefined;
  /** In the subject or the body, whatever its case. */
  readonly text?: string | undefined;
}

/** Where a page ended: in which group, after which place. */
export interface PageEnd {
  readonly group: number;
  readonly place: number;
}

/** Above every place: a group is read from here on. */
export const TOP_PLACE = 999_999_999_999_999;

/** In the order in which they are shown. */
export function groupsOf({ recipient, isUnreadOnly, hasArchived }: MailSearch): readonly string[] {
  const boxes = MAIL_BOXES.slice(0, isUnreadOnly ? 1 : hasArchived ? 3 : 2);
  return boxes.flatMap((box) => MAIL_PRIORITIES.map((priority) => groupOf(box, recipient, priority)));
}

export function isWanted({ kind, thread, from, text }: MailSearch): (mail: Mail) => boolean {
  const sought = text?.toLowerCase();
  return (mail) =>
    (kind === undefined || mail.kind === kind) &&
    (thread === undefined || mail.thread === thread) &&
    (from === undefined || isFrom(mail, from)) &&
    (sought === undefined || mail.subject.toLowerCase().includes(sought) || mail.body.toLowerCase().includes(sought));
}

function isFrom({ from: { caller, name } }: Mail, from: string): boolean {
  return caller === from || caller === `session:${from}` || name === from;
}

export function pageName({ group, place }: PageEnd): string {
  return `${group}-${place}`;
}

/** Null: it names none. */
export function pageEnd(name: string): PageEnd | null {
  const [, group, place] = /^(\d{1,2})-(\d{1,15})$/.exec(name) ?? [];
  return group === undefined || place === undefined ? null : { group: Number(group), place: Number(place) };
}
