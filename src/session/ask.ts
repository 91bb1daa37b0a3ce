/**
 * Finds what somebody asked of a session through Reeve, from the log. A wait
 * without a cursor is about the newest ask.
 */
import type { EventBody, LoggedEvent } from "./event.ts";

export type AskBody = Extract<EventBody, { readonly type: (typeof ASK_TYPES)[number] }>;

export interface Ask {
  readonly seq: number;
  readonly at: number;
  readonly body: AskBody;
}

/** Of these types; a start or an answer only if somebody asked for it. */
export const ASK_TYPES = ["session-starting", "message-admitted", "approval-answer-requested"] as const;

/** Nobody asks for a start that the restart policy makes. */
export const RESTART_POLICY_CODE = "restart-policy";

export function isAsk(body: EventBody): body is AskBody {
  switch (body.type) {
    case "session-starting":
      return body.reason.code !== RESTART_POLICY_CODE;
    case "message-admitted":
      return body.isWake !== true && body.isResume !== true;
    case "approval-answer-requested":
      return body.rule === undefined;
    default:
      return false;
  }
}

export function askOf({ seq, at, body }: LoggedEvent): Ask | null {
  return isAsk(body) ? { seq, at, body } : null;
}
