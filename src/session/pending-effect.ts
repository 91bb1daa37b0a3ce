/**
 * What must be done next, derived from the record and nothing else. The same
 * answer after a crash as before it, so an interrupted effect is simply tried
 * again; each is idempotent per incarnation.
 */
import type { Session, StopIntent } from "./session.ts";

export type Effect =
  | { readonly kind: "create"; readonly incarnation: number }
  | { readonly kind: "suspend"; readonly incarnation: number }
  | { readonly kind: "release"; readonly incarnation: number }
  | { readonly kind: "stop"; readonly incarnation: number; readonly stop: StopIntent }
  | { readonly kind: "answer"; readonly incarnation: number; readonly approvalId: string };

export function pendingEffect(session: Session): Effect | null {
  const { incarnation } = session;
  if (session.stop !== null)
    return mayStopNow(session, session.stop) ? { kind: "stop", incarnation, stop: session.stop } : null;
  if (session.state === "starting") return { kind: "create", incarnation };
  if (session.exit !== null || (session.state !== "running" && session.state !== "paused")) return null;
  const wantsSuspended = session.desired === "paused" && session.pauseMode === "suspend";
  if (wantsSuspended && !session.suspended) return { kind: "suspend", incarnation };
  if (!wantsSuspended && session.suspended) return { kind: "release", incarnation };
  const answered = session.approvals.find((approval) => approval.answer !== null);
  if (answered !== undefined && takesMessages(session)) return { kind: "answer", incarnation, approvalId: answered.id };
  return null;
}

/** A turn that waits for somebody's answer is not work under way: whoever ends the session has answered. */
function mayStopNow(session: Session, stop: StopIntent): boolean {
  const isAsking = session.activity.status === "awaiting-approval" || session.activity.status === "awaiting-input";
  return !stop.afterTurn || !session.turnOpen || isAsking || session.exit !== null;
}

/** Whether a message may be typed now, as far as the session itself goes. */
export function takesMessages(session: Session): boolean {
  return (
    session.state === "running" &&
    session.desired === "running" &&
    session.stop === null &&
    !session.suspended &&
    session.liveness.status === "running"
  );
}

/** Whether a message can still be delivered at some time without a new start. */
export function mayTakeMessagesLater(session: Session): boolean {
  return (
    session.desired !== "stopped" &&
    (session.exit === null || session.restart.dueAt !== null || session.stop?.next === "restart")
  );
}
