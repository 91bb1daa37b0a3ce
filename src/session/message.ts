/**
 * A message to a session: admitted durably, then leased for one attempt to
 * type it, then delivered, refused, or, if a crash hid the outcome, unknown.
 * It is never typed twice.
 */
import type { Moment } from "../platform/clock.ts";
import type { CallerName } from "./caller.ts";

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
  /** Who sent it; null where an earlier version wrote it. */
  readonly caller: CallerName | null;
  /** Wait for the end of a turn under way, put it into that turn, or stop that turn first, ahead of what waits. */
  readonly how: MessageRoute;
  /** The only turn that it may stop, if it is one that stops a turn; null: none, or an earlier version wrote it. */
  readonly intendedTurn: number | null;
  /** Which question of the session it answers; null: none. See next-step.ts. */
  readonly answers: string | null;
  readonly state: MessageState;
  readonly admittedAt: number;
  /** Since when its outcome is known. */
  readonly settled: Moment | null;
  /** How the outcome is known. */
  readonly detail: string | null;
}

/** `/quit`, `/clear`: for the program at the terminal, not for the model behind it. */
export function isOwnCommand({ text }: Pick<Message, "text">): boolean {
  return text.startsWith("/");
}
