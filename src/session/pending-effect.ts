/**
 * Decides what must be done next, from the record alone. The answer is the same
 * before and after a crash, so an interrupted effect is simply tried again;
 * each effect is idempotent per incarnation.
 */
import type { Moment } from "../platform/clock.ts";
import { worksInBackground } from "./background.ts";
import { isHeldByBranch } from "./checkout.ts";
import { isTurnTimedOut } from "./countdown.ts";
import { isAskedToStop } from "./interrupt.ts";
import { isPromptAhead } from "./prompt-ahead.ts";
import type { Session, StopIntent } from "./session.ts";

export type Effect =
  | { readonly kind: "create"; readonly incarnation: number }
  | { readonly kind: "suspend"; readonly incarnation: number }
  | { readonly kind: "release"; readonly incarnation: number }
  | { readonly kind: "stop"; readonly incarnation: number; readonly stop: StopIntent }
  | { readonly kind: "answer"; readonly incarnation: number; readonly approvalId: string }
  | { readonly kind: "interrupt"; readonly incarnation: number; readonly turn: number };

/** `now` decides only how long a first prompt that nobody has taken yet holds an end back; without it, not at all. */
export function pendingEffect(session: Session, now: Moment | null = null): Effect | null {
  const { wish, process } = session;
  const { incarnation } = process;
  if (wish.stop !== null && mayStopNow(session, wish.stop, now))
    return { kind: "stop", incarnation, stop: { ...wish.stop, afterTurn: false } };
  if (session.state === "starting") return wish.held === null ? { kind: "create", incarnation } : null;
  if ((isTurnTimedOut(session) || isAskedToStop(session)) && isWithinReach(session))
    return { kind: "interrupt", incarnation, turn: session.conversation.turns };
  if (wish.stop !== null) return null;
  if (process.exit !== null || (session.state !== "running" && session.state !== "paused")) return null;
  const wantsSuspended = wish.desired === "paused" && wish.pauseMode === "suspend";
  if (wantsSuspended && !process.suspended) return { kind: "suspend", incarnation };
  if (!wantsSuspended && process.suspended) return { kind: "release", incarnation };
  const answered = session.conversation.approvals.find((approval) => approval.answer !== null);
  if (answered !== undefined && takesMessages(session)) return { kind: "answer", incarnation, approvalId: answered.id };
  return null;
}

/** A turn is also stopped while the end of its session waits for it. */
function isWithinReach({ state, process }: Session): boolean {
  const isThere = process.exit === null && process.liveness.status === "running";
  return isThere && !process.suspended && (state === "running" || state === "paused");
}

/** A turn that waits for somebody's answer is not work under way: whoever ends the session has answered. */
function mayStopNow(session: Session, stop: StopIntent, now: Moment | null): boolean {
  const { conversation } = session;
  const isAsking =
    conversation.activity.status === "awaiting-approval" || conversation.activity.status === "awaiting-input";
  if (!stop.afterTurn || isAsking || session.process.exit !== null) return true;
  return !conversation.turnOpen && !worksInBackground(session) && !(now !== null && isPromptAhead(session, now));
}

/** An end that is held back by a turn, and may still be taken back. */
export function isEndWaiting({ wish: { stop }, process: { exit } }: Session): boolean {
  return stop?.next === "stopped" && stop.afterTurn && exit === null;
}

/** Whether a message may be typed now, as far as the session itself goes. */
export function takesMessages(session: Session): boolean {
  return (
    session.state === "running" &&
    session.wish.desired === "running" &&
    session.wish.stop === null &&
    !session.process.suspended &&
    !isHeldByBranch(session) &&
    session.process.liveness.status === "running"
  );
}

/** Whether a message can still be delivered at some time without a new start. */
export function mayTakeMessagesLater(session: Session): boolean {
  return (
    (session.wish.desired !== "stopped" || isEndWaiting(session)) &&
    (session.process.exit === null || session.process.restart.dueAt !== null || session.wish.stop?.next === "restart")
  );
}
