/**
 * The one function that decides what a session becomes:
 * state × (command | observation) → next state + events. Pure and total. It
 * plans no effect itself: what must be done follows from the record alone
 * (pending-effect.ts), so that a restart of Reeve resumes exactly there.
 *
 * The same object back means that nothing about the session changed, though
 * there may be events to log; otherwise its revision has grown by one.
 */
import { applyCommand } from "./apply-command.ts";
import { applyObservation } from "./apply-observation.ts";
import type { Command, Context, Input } from "./input.ts";
import type { Outcome } from "./outcome.ts";
import { unchanged } from "./outcome.ts";
import type { Session } from "./session.ts";

export function transition(session: Session, input: Input, context: Context): Outcome {
  if ("incarnation" in input && input.incarnation !== session.incarnation) return unchanged(session);
  const outcome = isCommand(input) ? applyCommand(session, input, context) : applyObservation(session, input, context);
  if (outcome.refused !== null || outcome.session === session) return outcome;
  return { ...outcome, session: { ...outcome.session, revision: session.revision + 1 } };
}

const COMMANDS = {
  pause: true,
  resume: true,
  restart: true,
  end: true,
  "cancel-end": true,
  answer: true,
} as const satisfies Record<Command["type"], true>;

function isCommand(input: Input): input is Command {
  return input.type in COMMANDS;
}
