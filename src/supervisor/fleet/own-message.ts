/** A message of Reeve's own to a session: a wake, or to go on with a turn. */
import type { NewMessage } from "../../store/change.ts";

export function ownMessage(message: Pick<NewMessage, "id" | "sessionId" | "text" | "admittedAt">): NewMessage {
  return {
    ...message,
    submit: true,
    caller: "system",
    how: "queue",
    intendedTurn: null,
    answers: null,
    state: "admitted",
    settled: null,
    detail: null,
  };
}
