/**
 * A message to a session: admitted durably, then leased for one attempt to
 * type it, then delivered, refused, or, if a crash hid the outcome, unknown.
 * It is never typed twice.
 */
export type MessageState = "admitted" | "leased" | "delivered" | "refused" | "unknown";

export type MessageRoute = "queue" | "steer" | "interrupt";

export interface Message {
  readonly id: string;
  readonly sessionId: string;
  /** Order of delivery within the session. */
  readonly position: number;
  readonly text: string;
  /** Press Enter after it. */
  readonly submit: boolean;
  /** Wait for the end of a turn under way, put it into that turn, or stop that turn first. */
  readonly how: MessageRoute;
  readonly state: MessageState;
  readonly admittedAt: number;
  readonly settledAt: number | null;
  /** How the outcome is known. */
  readonly detail: string | null;
}
