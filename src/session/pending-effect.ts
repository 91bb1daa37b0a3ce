/**
 * What must be done next, derived from the record and nothing else. The same
 * answer after a crash as before it, so an interrupted effect is simply tried
 * again; each is idempotent per incarnation.
 */
import { worksInBackground } from "./background.ts";
import type { Session, StopIntent } from "./session.ts";

export type Effect =
  | { readonly kind: "create"; readonly incarnation: number }
  | { readonly kind: "suspend"; readonly incarnation: number }
  | { readonly kind: "release"; readonly incarnation: number }
  | { readonly kind: "stop"; readonly incarnation: number; readonly stop: StopIntent }
  | { readonly kind: "answer"; readonly incarnation: number; readonly approvalId: string };

/** `now` decides only how long a first prompt that nobody has taken yet holds an end back; without it, not at all. */
export function pendingEffect(session: Session, now: number = Number.POSITIVE_INFINITY): Effect | null {
  const { incarnation } = session;
  if (session.stop !== null && mayStopNow(session, session.stop, now))
    return { kind: "stop", incarnation, stop: { ...session.stop, afterTurn: false } };
  if (session.state === "starting") return session.held === null ? { kind: "create", incarnation } : null;
  if (session.stop !== null) return null;
  if (session.exit !== null || (session.state !== "running" && session.state !== "paused")) return null;
  const wantsSuspended = session.desired === "paused" && session.pauseMode === "suspend";
  if (wantsSuspended && !session.suspended) return { kind: "suspend", incarnation };
  if (!wantsSuspended && session.suspended) return { kind: "release", incarnation };
  const answered = session.approvals.find((approval) => approval.answer !== null);
  if (answered !== undefined && takesMessages(session)) return { kind: "answer", incarnation, approvalId: answered.id };
  return null;
}

/** A turn that waits for somebody's answer is not work under way: whoever ends the session has answered. */
function mayStopNow(session: Session, stop: StopIntent, now: number): boolean {
  const isAsking = session.activity.status === "awaiting-approval" || session.activity.status === "awaiting-input";
  if (!stop.afterTurn || isAsking || session.exit !== null) return true;
  return !session.turnOpen && !worksInBackground(session) && !isPromptAhead(session, now);
}

/** An end that is held back by a turn, and may still be taken back. */
export function isEndWaiting({ stop, exit }: Session): boolean {
  return stop?.next === "stopped" && stop.afterTurn && exit === null;
}

/** An agent is idle for a moment before it takes the prompt of its command line; longer, and it will not. */
const PROMPT_TAKEN_WITHIN_MS = 15_000;

/** The prompt of the start is still on its way into the agent: its turn is about to begin. */
export function isPromptAhead(session: Session, now: number): boolean {
  const { prompt } = session.launch;
  if (!session.hasTurns || prompt === null || prompt.startsWith("/") || session.turns > 0) return false;
  if (session.exit !== null || session.state === "error") return false;
  const { status, evidence } = session.activity;
  if (status === "starting" || status === "working") return true;
  return status === "idle" && now - evidence.at < PROMPT_TAKEN_WITHIN_MS;
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
    (session.desired !== "stopped" || isEndWaiting(session)) &&
    (session.exit === null || session.restart.dueAt !== null || session.stop?.next === "restart")
  );
}
