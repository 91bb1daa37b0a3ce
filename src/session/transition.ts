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
import { applyRules } from "./apply-rule.ts";
import { callerName, SYSTEM } from "./caller.ts";
import { isTurnTimedOut, withCountdowns } from "./countdown.ts";
import type { Command, Context, Input, Observation } from "./input.ts";
import { interruptDone } from "./interrupt.ts";
import { momentOf } from "./moment.ts";
import { withNews } from "./notice.ts";
import type { Change, Outcome } from "./outcome.ts";
import { withPromptAhead } from "./prompt-ahead.ts";
import { changed, unchanged } from "./outcome.ts";
import type { LastCommand, Session } from "./session.ts";

export function transition(session: Session, input: Input, context: Context): Outcome {
  if ("incarnation" in input && input.incarnation !== session.process.incarnation) return unchanged(session);
  const outcome = isCommand(input) ? applyCommand(session, input, context) : observed(session, input, context);
  if (outcome.refused !== null || outcome.session === session) return outcome;
  const now = momentOf(context);
  const counted = withPromptAhead(withCountdowns(outcome.session, now), now);
  const next = withNews(session, { ...counted, revision: session.revision + 1 }, outcome.events);
  if (!isCommand(input) || LEAVES_NO_TRACE.includes(input.type)) return { ...outcome, session: next };
  // Whoever asks something of it has taken over: Reeve does not go on with its turn by itself.
  const quota = LEAVES_ALONE.includes(input.type) ? {} : { failed: null };
  return { ...outcome, session: amend(next, { wish: { lastCommand: commanded(input, context) }, quota }) };
}

/** Commands of somebody who only looked: it ended when it did, and retention counts from then. */
const LEAVES_NO_TRACE: readonly Command["type"][] = ["seen", "exported"];

/** Commands that change nothing about what it does. */
const LEAVES_ALONE: readonly Command["type"][] = ["rename", "hold", "release-hold"];

function observed(session: Session, input: Observation, context: Context): Outcome {
  const outcome = applyObservation(session, input, context);
  return outcome.refused === null
    ? changed(interruptDone(session, telling(session, applyRules(session, outcome, context))))
    : outcome;
}

/** A turn that a time-out was to stop was stopped by that. */
function telling(before: Session, { session, events }: Change): Change {
  if (!isTurnTimedOut(before) || !events.some(({ type }) => type === "turn-interrupted")) return { session, events };
  const { turns } = before.conversation;
  const told = events.map((event) =>
    event.type === "turn-interrupted" && event.turn === turns ? ({ ...event, timedOut: "turn" } as const) : event,
  );
  return { session, events: told };
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
  interrupt: true,
  answer: true,
  seen: true,
  rename: true,
  exported: true,
  hold: true,
  "release-hold": true,
  "set-restart-policy": true,
} as const satisfies Record<Command["type"], true>;

function isCommand(input: Input): input is Command {
  return input.type in COMMANDS;
}
