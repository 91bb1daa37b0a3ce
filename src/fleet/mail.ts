/**
 * Mail between sessions, roles and the operator, as it is recorded: one record
 * for each recipient, which keeps its own state. It is pure, and knows neither
 * the store nor who may write to whom (mail-policy.ts).
 *
 * A record is stored under the box that it lies in, its recipient and its
 * priority (`groupOf`), so that a page of somebody's mail, and everything that is
 * unread, is found by the store's index and not by reading all mail.
 */
import type { CallerName } from "../session/caller.ts";
import type { MailEvent } from "../session/home-event.ts";
import { defineKind } from "../session/record-kind.ts";
import { count, instant, object, type Of, oneOf, orNull, positive, text, textOf } from "../session/shape.ts";

export const MAIL_KINDS = ["note", "hand-off"] as const;
export const MAIL_STATES = ["unread", "read", "archived", "retracted"] as const;
/** In the order in which they are shown. */
export const MAIL_PRIORITIES = ["high", "normal", "low"] as const;
/** Unread mail, what was read or taken back, and what its recipient put away; in the order in which they are shown. */
export const MAIL_BOXES = ["unread", "kept", "archived"] as const;

/** The recipient that is no session. */
export const OPERATOR_BOX = "operator";

export const MOST_BODY_BYTES = 65_536;
export const MOST_SUBJECT_CHARACTERS = 200;

export type MailKind = (typeof MAIL_KINDS)[number];
export type MailPriority = (typeof MAIL_PRIORITIES)[number];
export type MailBox = (typeof MAIL_BOXES)[number];
export type Addressed = "session" | "operator" | `role:${string}`;

const mailShape = object({
  id: text,
  revision: positive,
  /** Of the first mail, whose answers and their answers belong to it. */
  thread: text,
  /** Who sent it, as Reeve knows it; `name` is the one that a session had then. */
  from: object({ caller: textOf<CallerName>(), name: orNull(text) }),
  /** The id of a session, or `operator`. */
  to: text,
  /** What the sender wrote to: of a role, each of its sessions has a record of its own. */
  addressed: textOf<Addressed>(),
  subject: text,
  body: text,
  kind: oneOf(...MAIL_KINDS),
  priority: oneOf(...MAIL_PRIORITIES),
  inReplyTo: orNull(text),
  sentAt: instant,
  /** The number of its `mail-sent` event. */
  seq: count,
  state: oneOf(...MAIL_STATES),
  readAt: orNull(instant),
  archivedAt: orNull(instant),
  retractedAt: orNull(instant),
});

export type Mail = Of<typeof mailShape>;

/** What a sender decides, and Reeve knows of it; the store gives it its number. */
export type NewMail = Omit<Mail, "revision" | "seq" | "state" | "readAt" | "archivedAt" | "retractedAt">;

export const mailKind = defineKind<Mail>({
  name: "mail",
  parse(value) {
    if (!mailShape.is(value)) throw new Error("it does not describe a mail");
    return value;
  },
  groupOf: (mail) => groupOf(boxOf(mail), mail.to, mail.priority),
});

/** Groups of one box begin with its name: all unread mail is found together. */
export function groupOf(box: MailBox, recipient: string, priority: MailPriority): string {
  return `${box}/${recipient}/${priority}`;
}

export function boxOf({ state, archivedAt }: Mail): MailBox {
  if (archivedAt !== null) return "archived";
  return state === "unread" ? "unread" : "kept";
}

export function posted(mail: NewMail, seq: number): Mail {
  return { ...mail, revision: 1, seq, state: "unread", readAt: null, archivedAt: null, retractedAt: null };
}

/** What may become of a mail that was sent. Its recipient reads and archives it, its sender takes it back. */
export type MailChange = "read" | "archive" | "retract";

export interface ChangedMail {
  readonly mail: Mail;
  readonly event: MailEvent;
}

/** Null: nothing changes, it was done before. A mail that is no longer unread cannot be retracted: see `mayRetract`. */
export function changedMail(mail: Mail, change: MailChange, at: number): ChangedMail | null {
  const revision = mail.revision + 1;
  const about = { mailId: mail.id, thread: mail.thread, to: mail.to };
  switch (change) {
    case "read":
      if (mail.state !== "unread") return null;
      return { mail: { ...mail, revision, state: "read", readAt: at }, event: { type: "mail-read", ...about } };
    case "archive": {
      if (mail.archivedAt !== null) return null;
      const state = mail.state === "retracted" ? "retracted" : "archived";
      return { mail: { ...mail, revision, state, archivedAt: at }, event: { type: "mail-archived", ...about } };
    }
    case "retract":
      if (mail.state !== "unread") return null;
      return {
        // What was taken back is not kept.
        mail: { ...mail, revision, state: "retracted", subject: "", body: "", retractedAt: at },
        event: { type: "mail-retracted", ...about },
      };
  }
}

export function mayRetract({ state }: Mail): boolean {
  return state === "unread" || state === "retracted";
}

export function sentEvent(mail: NewMail): MailEvent {
  const { id, thread, from, to, kind, priority } = mail;
  return { type: "mail-sent", mailId: id, thread, to, from: from.caller, fromName: from.name, kind, priority };
}

/** An answer has the subject of what it answers, marked once. */
export function replySubject(subject: string): string {
  const reply = /^re:/i.test(subject) ? subject : `Re: ${subject}`;
  return reply.trim().slice(0, MOST_SUBJECT_CHARACTERS);
}

/** Of a mail that was sent without a subject: how its text begins. */
export function subjectOf(body: string): string {
  const line =
    body
      .split("\n")
      .find((one) => one.trim() !== "")
      ?.trim() ?? "";
  return clipped(line, SUBJECT_OF_TEXT);
}

const SUBJECT_OF_TEXT = 72;

/** At most so many characters, none of them halved. */
export function clipped(line: string, most: number): string {
  const characters = Array.from(line);
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join("")}…`;
}
