/** The result of a transition: a refusal, or the session as it is now with the events to log. */
import type { SessionEvent } from "./event.ts";
import type { Session } from "./session.ts";

export type Outcome = { readonly refused: Refusal } | ({ readonly refused: null } & Change);

/** The same session back means: nothing about it changed, though there may be events to log. */
export interface Change {
  readonly session: Session;
  readonly events: readonly SessionEvent[];
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

export function changed(change: Change): Outcome {
  return { refused: null, ...change };
}

export function unchanged(session: Session): Outcome {
  return { refused: null, session, events: [] };
}

export function refuse(code: string, message: string): Outcome {
  return { refused: { code, message } };
}
