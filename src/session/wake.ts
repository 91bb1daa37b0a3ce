/**
 * Defines which events end a wait, and the name of each reason. If several
 * events report one fact, only one of them ends a wait: the event that a
 * question is asked, or that the process is gone.
 */
import type { EventType, LoggedEvent } from "./event.ts";

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

/** Only events of these types end a wait, and not each of them. */
export const WAKE_EVENTS = [
  "turn-completed",
  "turn-failed",
  "turn-interrupted",
  "turn-corrected",
  "session-exited",
  "session-stopped",
  "session-errored",
  "session-stalled",
  "health-changed",
  "approval-requested",
  "approval-answer-failed",
  "activity-changed",
] as const satisfies readonly EventType[];

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
    case "health-changed":
      return body.health.verdict === "hung" ? "stalled" : null;
    case "approval-requested":
      return body.replaces === undefined && body.rule === undefined ? "awaiting-approval" : null;
    case "approval-answer-failed":
      return body.rule === undefined ? null : "awaiting-approval";
    case "activity-changed":
      return body.activity.status === "awaiting-input" && body.isReworded !== true ? "awaiting-input" : null;
    default:
      return null;
  }
}
