/**
 * One change of one record. A commit is a list of them, over any number of
 * records. Each names the revision that it builds on. If another revision is
 * stored by then, the whole commit is refused.
 *
 * Sessions and messages have tables of their own. Every other kind of record is
 * defined in the domain (session/record-kind.ts), which also makes its changes.
 */
import type { Moment } from "../platform/clock.ts";
import type { Message, MessageState } from "../session/message.ts";
import type { RecordChange } from "../session/record-kind.ts";
import type { Session } from "../session/session.ts";

export type Change =
  | { readonly kind: "session"; readonly session: Session }
  | Admission
  | { readonly kind: "message"; readonly settle: Settlement }
  | RecordChange
  | Removal;

/** What is kept no longer (fleet/retention.ts decides). */
export type Removal =
  | { readonly kind: "removed-session"; readonly session: Session }
  | { readonly kind: "removed-messages"; readonly sessionId: string; readonly most: number }
  | { readonly kind: "removed-events"; readonly seqs: readonly number[] };

export interface Admission {
  readonly kind: "message";
  readonly admit: NewMessage;
}

/** The store gives it the next position of its session. */
export type NewMessage = Omit<Message, "position">;

export interface Settlement {
  readonly messageId: string;
  readonly state: MessageState;
  readonly detail: string | null;
  readonly moment: Moment;
}

/**
 * The new row; its revision must be exactly one above the stored one (0: none
 * yet). A session that has not ended is refused the name of another such one.
 */
export function putSession(session: Session): Change {
  return { kind: "session", session };
}

export function admitMessage(admit: NewMessage): Admission {
  return { kind: "message", admit };
}

/** The session as it is stored, with its messages; refused while one of them is open. */
export function removeSession(session: Session): Change {
  return { kind: "removed-session", session };
}

/** The oldest settled ones, at most so many: a session with very many messages goes in small commits. */
export function removeMessages(sessionId: string, most: number): Change {
  return { kind: "removed-messages", sessionId, most };
}

/** Numbers are never given again; the log says up to where something is missing (`prunedThrough`). */
export function removeEvents(seqs: readonly number[]): Change {
  return { kind: "removed-events", seqs };
}

/** Only a message that is open, or whose outcome is unknown and becomes known. */
export function settleMessage(settle: Settlement): Change {
  return { kind: "message", settle };
}
