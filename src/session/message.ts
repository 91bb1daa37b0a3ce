/**
 * A message to a session: admitted durably, then leased for one attempt to
 * type it, then delivered, refused, or, if a crash hid the outcome, unknown.
 * It is never typed twice.
 */
export type MessageState = "admitted" | "leased" | "delivered" | "refused" | "unknown";

export interface Message {
  readonly id: string;
  readonly sessionId: string;
  /** Order of delivery within the session. */
  readonly position: number;
  readonly text: string;
  /** Press Enter after it. */
  readonly submit: boolean;
  readonly state: MessageState;
  readonly admittedAt: number;
  readonly settledAt: number | null;
  /** How the outcome is known. */
  readonly detail: string | null;
}
