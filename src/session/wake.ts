/**
 * Which events end a wait, and under which name. Of the events that tell of
 * one fact only one does: a question wakes when it is asked, an end when the
 * process is gone.
 */
import type { EventBody, LoggedEvent } from "./event.ts";
import type { Session } from "./session.ts";

export const WAKE_REASONS = [
  "turn-completed",
  "turn-failed",
  "turn-interrupted",
  "awaiting-approval",
  "awaiting-input",
  "exited",
  "stalled",
] as const;
export type WakeReason = (typeof WAKE_REASONS)[number];

export function wakeReasonOf(event: LoggedEvent): WakeReason | null {
  const { body } = event;
  switch (body.type) {
    case "turn-completed":
    case "turn-failed":
    case "turn-interrupted":
      return body.type;
    case "turn-corrected":
      return `turn-${body.verdict}`;
    case "session-exited":
      return "exited";
    case "session-stopped":
    case "session-errored":
      return body.isAfterExit === true ? null : "exited";
    case "session-stalled":
      return "stalled";
    case "approval-requested":
      return body.replaces === undefined ? "awaiting-approval" : null;
    case "activity-changed":
      return body.activity.status === "awaiting-input" && body.isReworded !== true ? "awaiting-input" : null;
    default:
      return null;
  }
}

type TurnEnd = Extract<EventBody, { type: "turn-completed" | "turn-failed" | "turn-interrupted" }>;

export function isTurnEnd(body: EventBody): body is TurnEnd {
  return body.type === "turn-completed" || body.type === "turn-failed" || body.type === "turn-interrupted";
}

/** What somebody who waits without a cursor would be told at once: it is over, it is asking, or it has stalled. */
export function standingWake(session: Session): WakeReason | null {
  if (session.exit !== null || session.state === "stopped")
    return session.restart.dueAt === null && session.stop?.next !== "restart" ? "exited" : null;
  if (session.activity.status === "awaiting-approval" || session.activity.status === "awaiting-input")
    return session.activity.status;
  if (session.stalledAt !== null) return "stalled";
  return null;
}
