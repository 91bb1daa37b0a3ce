/**
 * The unread mail of every recipient, in memory: it is counted with every
 * answer that a session gets, so nothing may be read for it. It is filled once
 * when the daemon starts and then follows the log. It also bounds how much may
 * be unread (docs/decisions/0035-mail.md).
 */
import type { CallerName } from "../session/caller.ts";
import type { EventBody, LoggedEvent } from "../session/event.ts";
import type { Mail, MailKind, MailPriority } from "./mail.ts";

/** More than an agent will ever go through; so much unread mail tells that nobody reads it. */
export const MOST_UNREAD = 1_000;
/** Of one session, so that it cannot use up the room of another and keep everybody else out. */
export const MOST_UNREAD_FROM_ONE = 100;

export interface UnreadMail {
  readonly mailId: string;
  /** Of its `mail-sent` event. */
  readonly seq: number;
  readonly sentAt: number;
  readonly thread: string;
  readonly from: CallerName;
  readonly kind: MailKind;
  readonly priority: MailPriority;
}

export interface UnreadCount {
  readonly unread: number;
  readonly handOffs: number;
  /** Of the `mail-sent` event of the newest unread mail; 0 where there is none. */
  readonly newestSeq: number;
}

export type Fullness = "recipient-full" | "sender-full" | null;

export interface UnreadIndex {
  /** One that is unread, as the store has it. */
  add(mail: Mail): void;
  follow(events: readonly LoggedEvent[]): void;
  /** Of a session's id, or of `operator`. */
  count(recipient: string): UnreadCount;
  /** Oldest first. */
  list(recipient: string): readonly UnreadMail[];
  /** Why no further mail of this sender may go there. What was promised counts. */
  fullness(recipient: string, from: CallerName): Fullness;
  /** Room for one that is about to be recorded, until the returned function is called. */
  promise(recipient: string, from: CallerName): () => void;
}

interface Box {
  /** By id, in the order in which they were sent. */
  readonly mails: Map<string, UnreadMail>;
  readonly bySender: Map<CallerName, number>;
  handOffs: number;
  promised: number;
  /** Null: to be found again. */
  newestSeq: number | null;
}

export function createUnreadIndex(): UnreadIndex {
  const boxes = new Map<string, Box>();

  function boxFor(recipient: string): Box {
    const known = boxes.get(recipient);
    if (known !== undefined) return known;
    const box: Box = { mails: new Map(), bySender: new Map(), handOffs: 0, promised: 0, newestSeq: null };
    boxes.set(recipient, box);
    return box;
  }

  function put(recipient: string, mail: UnreadMail): void {
    const box = boxFor(recipient);
    if (box.mails.has(mail.mailId)) return;
    box.mails.set(mail.mailId, mail);
    add(box, mail.from, 1);
    if (mail.kind === "hand-off") box.handOffs += 1;
    box.newestSeq = null;
  }

  function take(recipient: string, mailId: string): void {
    const box = boxes.get(recipient);
    const mail = box?.mails.get(mailId);
    if (box === undefined || mail === undefined) return;
    box.mails.delete(mailId);
    add(box, mail.from, -1);
    if (mail.kind === "hand-off") box.handOffs -= 1;
    box.newestSeq = null;
    dropEmpty(recipient, box);
  }

  function dropEmpty(recipient: string, box: Box): void {
    if (box.mails.size === 0 && box.promised === 0) boxes.delete(recipient);
  }

  return {
    add: ({ id, seq, sentAt, thread, from, to, kind, priority }) =>
      put(to, { mailId: id, seq, sentAt, thread, from: from.caller, kind, priority }),

    follow(events) {
      for (const { seq, at, body } of events) {
        if (body.type === "mail-sent") {
          const { mailId, thread, from, kind, priority } = body;
          put(body.to, { mailId, seq, sentAt: at, thread, from, kind, priority });
        } else if (isNoLongerUnread(body)) take(body.to, body.mailId);
      }
    },

    count(recipient) {
      const box = boxes.get(recipient);
      if (box === undefined) return NOTHING;
      let newestSeq = box.newestSeq ?? 0;
      if (box.newestSeq === null) for (const { seq } of box.mails.values()) newestSeq = Math.max(newestSeq, seq);
      box.newestSeq = newestSeq;
      return { unread: box.mails.size, handOffs: box.handOffs, newestSeq };
    },

    list: (recipient) =>
      [...(boxes.get(recipient)?.mails.values() ?? [])].toSorted((one, other) => one.seq - other.seq),

    fullness(recipient, from) {
      const box = boxes.get(recipient);
      if (box === undefined) return null;
      if (box.mails.size + box.promised >= MOST_UNREAD) return "recipient-full";
      return from.startsWith("session:") && (box.bySender.get(from) ?? 0) >= MOST_UNREAD_FROM_ONE
        ? "sender-full"
        : null;
    },

    promise(recipient, from) {
      const box = boxFor(recipient);
      box.promised += 1;
      add(box, from, 1);
      let isKept = false;
      return () => {
        if (isKept) return;
        isKept = true;
        box.promised -= 1;
        add(box, from, -1);
        dropEmpty(recipient, box);
      };
    },
  };
}

const NOTHING: UnreadCount = { unread: 0, handOffs: 0, newestSeq: 0 };

function add({ bySender }: Box, from: CallerName, change: 1 | -1): void {
  const now = (bySender.get(from) ?? 0) + change;
  if (now === 0) bySender.delete(from);
  else bySender.set(from, now);
}

type Settled = Extract<EventBody, { readonly type: "mail-read" | "mail-archived" | "mail-retracted" }>;

function isNoLongerUnread(body: EventBody): body is Settled {
  return body.type === "mail-read" || body.type === "mail-archived" || body.type === "mail-retracted";
}
