/**
 * Applies the proven end of a process. It is reported once per incarnation. The
 * restart policy decides whether the session is started again.
 */
import { amend } from "./amend.ts";
import { lapseWithProcess } from "./apply-approval.ts";
import type { CallerName } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import { type FailureKind, failureOfExit } from "./failure.ts";
import { endedByTimeOut, endSentence } from "./apply-time-out.ts";
import { deathReason, followDeath, saying } from "./follow-death.ts";
import { cutByDeath } from "./cut-short.ts";
import type { Context } from "./input.ts";
import { momentOf } from "./moment.ts";
import type { Change } from "./outcome.ts";
import { afterDeath } from "./restart-policy.ts";
import type { DeathCause } from "./restart-record.ts";
import type { Evidence, Exit, Reason, Session, StopIntent } from "./session.ts";

/** Long enough for a shell to clean up; nobody waits for it. */
const RESIDUE_GRACE_MS = 2_000;

/** What is known of a death beyond the exit of the process. */
interface DeathNotes {
  readonly cause?: DeathCause;
  /** By what it said last; its exit tells only that it crashed or was killed. */
  readonly failure?: FailureKind | undefined;
}

export function die(
  session: Session,
  exit: Exit,
  evidence: Evidence,
  context: Context,
  { cause = "own", failure: told = failureOfExit(exit) }: DeathNotes = {},
): Change {
  if (session.process.exit !== null) return { session, events: [] };
  const reason = withEnd(session, deathReason(exit, evidence));
  const status = exit.code === null && exit.signal === null ? "absent" : "exited";
  const quiet = fallSilent(session, evidence);
  const failure = exit.code === 0 || session.wish.stop !== null ? null : told;
  const restart = afterDeath(session.process.restart, cause, momentOf(context));
  const dead: Session = amend(quiet.session, {
    process: { exit, failure, liveness: { status, evidence }, endedAt: context.now, restart },
    conversation: { cutShort: cutByDeath(session, context.now) },
  });
  const { incarnation } = session.process;
  const exited: SessionEvent = {
    type: "session-exited",
    incarnation,
    exit,
    reason,
    ...(failure === null ? {} : { failure }),
    ...endAskedBy(session),
    ...endedByTimeOut(session),
  };
  // An end or restart that is under way already says what follows.
  const events = [...quiet.events, exited];
  if (session.wish.stop !== null) return { session: dead, events };
  return settle(amend(dead, { wish: { stop: residue() } }), exit, events, context);
}

/** Whoever hears of the death of one that a time-out ends reads that, too. */
function withEnd(session: Session, reason: Reason): Reason {
  return (session.wish.stop?.timedOut ?? null) === null ? reason : saying(reason, endSentence(session));
}

/** For the event of an end that somebody asked for: whoever did is not told of it as news. */
export function endAskedBy({ wish: { stop } }: Session): { readonly askedBy?: CallerName } {
  return stop === null || stop.by === null ? {} : { askedBy: stop.by };
}

/** Without a process there is no turn, no question and no activity. */
export function fallSilent(session: Session, evidence: Evidence): Change {
  const lapsed = lapseWithProcess(session, evidence);
  const activity = { status: "unknown", asks: null, evidence } as const;
  return {
    session: amend(lapsed.session, {
      conversation: { activity, background: [], turnOpen: false, stalledAt: null },
      process: { suspended: false, pulse: null },
    }),
    events: lapsed.events,
  };
}

/** It ended by itself: stopped, error, or scheduled to start again. */
function settle(dead: Session, exit: Exit, events: readonly SessionEvent[], context: Context): Change {
  const followed = followDeath({ ...dead, state: exit.code === 0 ? "stopped" : "error" }, exit, context);
  const type = followed.session.state === "error" ? "session-errored" : "session-stopped";
  const fact: SessionEvent = { type, reason: deathReason(exit, dead.process.liveness.evidence), isAfterExit: true };
  return { session: followed.session, events: [...events, fact, ...followed.events] };
}

/** What the dead process left behind is ended too; the place stays for a restart. */
function residue(): StopIntent {
  return { next: "rest", graceMs: RESIDUE_GRACE_MS, afterTurn: false, by: null, timedOut: null };
}
