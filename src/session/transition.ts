/**
 * The one function that decides what a session becomes:
 * state × (command | observation) → next state + events. Pure and total. It
 * plans no effect itself: what must be done follows from the record alone
 * (pending-effect.ts), so that a restart of Reeve resumes exactly there.
 *
 * If it returns the same object, nothing about the session changed, but there
 * may be events to log. Otherwise the revision has grown by one.
 */
import { amend } from "./amend.ts";
import { applyCommand } from "./apply-command.ts";
import { applyObservation } from "./apply-observation.ts";
import { callerName, SYSTEM } from "./caller.ts";
import type { Command, Context, Input } from "./input.ts";
import { withNews } from "./notice.ts";
import type { Outcome } from "./outcome.ts";
import { unchanged } from "./outcome.ts";
import type { LastCommand, Session } from "./session.ts";

export function transition(session: Session, input: Input, context: Context): Outcome {
  if ("incarnation" in input && input.incarnation !== session.process.incarnation) return unchanged(session);
  const outcome = isCommand(input) ? applyCommand(session, input, context) : applyObservation(session, input, context);
  if (outcome.refused !== null || outcome.session === session) return outcome;
  const next = withNews(session, { ...outcome.session, revision: session.revision + 1 }, outcome.events);
  if (!isCommand(input) || input.type === "seen") return { ...outcome, session: next };
  return { ...outcome, session: amend(next, { wish: { lastCommand: commanded(input, context) } }) };
}

function commanded({ type }: Command, { caller = SYSTEM, now }: Context): LastCommand {
  return { type, by: callerName(caller), at: now };
}

const COMMANDS = {
  pause: true,
  resume: true,
  restart: true,
  end: true,
  "cancel-end": true,
  answer: true,
  seen: true,
  rename: true,
} as const satisfies Record<Command["type"], true>;

function isCommand(input: Input): input is Command {
  return input.type in COMMANDS;
}
