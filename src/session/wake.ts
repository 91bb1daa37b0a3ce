/** Which events end a wait, and under which name. */
import type { LoggedEvent } from "./event.ts";
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
    case "session-exited":
    case "session-stopped":
    case "session-errored":
      return "exited";
    case "session-stalled":
      return "stalled";
    case "activity-changed":
      return body.activity.status === "awaiting-approval" || body.activity.status === "awaiting-input"
        ? body.activity.status
        : null;
    default:
      return null;
  }
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
