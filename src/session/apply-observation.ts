/** Applies an observation to a session: only what was proven, and only to the incarnation that it names. */
import { amend } from "./amend.ts";
import { isDeepStrictEqual } from "node:util";
import { answerFailed, answerGiven } from "./apply-approval.ts";
import { examined, stalled } from "./apply-health.ts";
import { checkoutSeen, heldToBranch } from "./apply-checkout.ts";
import { endedByTimeOut, endSentence, interruptFailed, timedOut } from "./apply-time-out.ts";
import { applyReading } from "./apply-reading.ts";
import { restBarred } from "./barred.ts";
import { withCountdowns } from "./countdown.ts";
import { die, endAskedBy, fallSilent } from "./death.ts";
import type { SessionEvent } from "./event.ts";
import type { Context, Observation } from "./input.ts";
import { momentOf } from "./moment.ts";
import { NEW_CONVERSATION, newConversationSentence } from "./new-conversation.ts";
import type { Change, Outcome } from "./outcome.ts";
import { changed, unchanged } from "./outcome.ts";
import { pauseSentence } from "./pause-sentence.ts";
import { holdEnding, holdLapsed } from "./stay.ts";
import { frozen, thawed } from "./frozen.ts";
import { givenUp, restartDue, restartPostponed, startNext } from "./start-again.ts";
import type { Activity, Evidence, IssuedPass, Observability, Place, Reason, Session, StopIntent } from "./session.ts";
import { isSamePlace } from "./session.ts";

export function applyObservation(session: Session, input: Observation, context: Context): Outcome {
  switch (input.type) {
    case "created":
      return present(session, input, context);
    case "found-running":
      return foundRunning(session, input, context);
    case "create-failed":
      return createFailed(session, input);
    case "create-delayed":
      return createDelayed(session, input, context);
    case "environment-lost":
      return environmentLost(session, input.evidence);
    case "found-exited":
      return changed(
        die(session, { code: input.code, signal: input.signal, at: context.now }, input.evidence, context, {
          failure: input.failure,
        }),
      );
    case "found-absent":
      if (session.process.place === null) return absentBeforeCreation(session, input.evidence);
      if (!isAboutPlace(session, input.asked)) return unchanged(session);
      return changed(
        die(session, { code: null, signal: null, at: context.now }, input.evidence, context, {
          cause: input.isShared === true ? "shared" : "own",
        }),
      );
    case "found-unreachable":
      if (!isAboutPlace(session, input.asked)) return unchanged(session);
      return foundUnreachable(session, input.evidence);
    case "found-frozen":
      return frozen(session, input.evidence);
    case "found-thawed":
      return thawed(session, input.evidence);
    case "suspended":
      return suspended(session, input.evidence);
    case "released":
      return released(session, input.evidence);
    case "cleared":
      return cleared(session, input, context);
    case "stop-begun":
      if (session.wish.stop?.afterTurn !== true) return unchanged(session);
      return changed({
        session: amend(session, { wish: { stop: { ...session.wish.stop, afterTurn: false } } }),
        events: [],
      });
    case "stop-delayed":
      return changed({
        session,
        events: [
          {
            type: "stop-delayed",
            incarnation: session.process.incarnation,
            reason: because("stop-delayed", input.evidence),
          },
        ],
      });
    case "restart-due":
      return restartDue(session, context);
    case "restart-postponed":
      return restartPostponed(session, input.waitMs, context);
    case "planned":
      return planned(session, input);
    case "checkout-seen":
      return checkoutSeen(session, input, context);
    case "stalled":
      return stalled(session, input.evidence);
    case "timed-out":
      return timedOut(session, input, context);
    case "interrupt-failed":
      return interruptFailed(session, input);
    case "hold-ending":
      return holdEnding(session, context);
    case "hold-lapsed":
      return holdLapsed(session, context);
    case "counted": {
      const counted = withCountdowns(session, momentOf(context));
      return changed({ session: counted, events: [] });
    }
    case "examined":
      return examined(session, input.pulse);
    case "answer-given":
      return answerGiven(session, input);
    case "answer-failed":
      return answerFailed(session, input);
    case "read":
      return changed(readRecord(session, input, context));
    case "read-transcript":
      return changed(readTranscript(session, input, context));
  }
}

function absentBeforeCreation(session: Session, evidence: Evidence): Outcome {
  if (session.wish.held === null || session.process.exit !== null) return unchanged(session);
  return changed(restBarred(session, session.wish.held, evidence));
}

/**
 * Silence is about what the question knew. Before the effect has created it there is nothing to be absent, and an
 * answer that was under way while it was created does not know it.
 */
function isAboutPlace(session: Session, asked: Place | null): boolean {
  return session.process.place !== null && isSamePlace(session.process.place, asked);
}

/** What the agent planned for the incarnation that is about to be created. */
function planned(session: Session, { plan, passHash, account }: Extract<Observation, { type: "planned" }>): Outcome {
  const { watch, nativeId, transcriptPath, observabilityReason } = plan;
  if (session.state !== "starting" || session.process.place !== null) return unchanged(session);
  const known = session.watch.observability;
  const isElsewhere = transcriptPath !== null && transcriptPath !== known.transcriptPath;
  const observability: Observability =
    known.status === "observable" && !isElsewhere
      ? known
      : {
          status: "pending",
          expected: true,
          reason: observabilityReason,
          transcriptPath: transcriptPath ?? known.transcriptPath,
        };
  const next = amend(session, {
    conversation: { nativeId: nativeId ?? session.conversation.nativeId },
    process: { passes: withPass(session, passHash) },
    quota: account === undefined ? {} : { account },
    watch: {
      ...watch,
      observability,
      transcriptCursor: isElsewhere ? null : session.watch.transcriptCursor,
    },
  });
  // A first start was recorded with its plan: nothing to commit again.
  return isDeepStrictEqual(next, session) ? unchanged(session) : changed({ session: next, events: [] });
}

/** Daemons that can die in the middle of one start; the process has one of the newest passes. */
const MOST_PASSES = 8;

/** Those of the processes before it are not good any more. */
function withPass({ process: { incarnation, passes } }: Session, hash: string): readonly IssuedPass[] {
  const own = passes.filter((pass) => pass.incarnation === incarnation);
  return own.some((pass) => pass.hash === hash) ? own : [...own, { incarnation, hash }].slice(-MOST_PASSES);
}

/** One that changes nothing may as well be read twice. */
function readRecord(
  session: Session,
  { reading, record }: Extract<Observation, { type: "read" }>,
  context: Context,
): Change {
  const read = applyReading(session, reading, context);
  const isNews = read.session !== session || read.events.length > 0;
  return isNews && record !== undefined
    ? { ...read, session: amend(read.session, { watch: { lastRecord: record } }) }
    : read;
}

function readTranscript(
  session: Session,
  { readings, cursor, said }: Extract<Observation, { type: "read-transcript" }>,
  context: Context,
): Change {
  const start: Change = { session: amend(session, { watch: { transcriptCursor: cursor } }), events: [] };
  const read = readings.reduce((before, reading) => {
    const after = applyReading(before.session, reading, context);
    return { session: after.session, events: [...before.events, ...after.events] };
  }, start);
  if (said === undefined) return read;
  return { ...read, session: amend(read.session, { notice: { said } }) };
}

function foundRunning(
  session: Session,
  input: Extract<Observation, { type: "found-running" }>,
  context: Context,
): Outcome {
  // A death, once proven, is not taken back; a process of a dead incarnation is residue, and swept.
  if (session.process.exit !== null) return unchanged(session);
  const base = present(session, input, context);
  if (!input.adopted || base.refused !== null) return base;
  const adopted: SessionEvent = {
    type: "session-adopted",
    incarnation: session.process.incarnation,
    pid: input.shown.pid,
    evidence: input.evidence,
  };
  return changed({ session: base.session, events: [...base.events, adopted] });
}

type Present = Extract<Observation, { type: "created" | "found-running" }>;

/** Its process is there: proven by the runtime, just created or found again. */
function present(session: Session, input: Present, context: Context): Outcome {
  const { place, shown, evidence } = input;
  const { process } = session;
  if (process.exit !== null) return unchanged(session);
  const liveness = { status: "running", evidence } as const;
  if (session.state === "starting") {
    const running = `Running as ${shown.text}.`;
    const isAnew = input.type === "created" && input.isAnew === true;
    const reason: Reason = isAnew
      ? { code: NEW_CONVERSATION, text: `${running} ${newConversationSentence(session)}`, evidence }
      : { code: "process-started", text: running, evidence };
    const activity: Activity = session.identity.hasTurns
      ? session.conversation.activity
      : {
          status: "unknown",
          asks: null,
          evidence: { ...evidence, detail: "this agent does not say what it is doing" },
        };
    const next: Session = amend(session, {
      state: "running",
      reason,
      process: {
        place,
        createFailures: null,
        liveness,
        startedAt: context.now,
        restart: { ...process.restart, running: momentOf(context) },
      },
      conversation: { activity, lastActivityAt: context.now },
    });
    const up: SessionEvent = { type: "session-running", incarnation: process.incarnation, reason, pid: shown.pid };
    return changed(heldToBranch({ session: next, events: [up] }, evidence, context));
  }
  if (process.liveness.status === "running") return unchanged(session);
  return changed({
    session: amend(session, { process: { place, liveness } }),
    events: [{ type: "liveness-changed", from: process.liveness.status, liveness }],
  });
}

function createFailed(session: Session, input: Extract<Observation, { type: "create-failed" }>): Outcome {
  if (session.state !== "starting") return unchanged(session);
  const { detail } = input.evidence;
  const tried = session.process.createFailures;
  const failed =
    tried === null ? detail : `${sentence(detail)} Given up after ${tries(tried.count + 1, tried.sinceAt)}.`;
  const { restartPolicy } = session.identity;
  const text =
    restartPolicy === "never"
      ? failed
      : `${sentence(failed)} Not started again, although its restart policy is ${restartPolicy}: it would fail the same way.`;
  const reason: Reason = { code: input.code, text, evidence: input.evidence };
  // Whatever was half made is swept before anything else happens.
  const stop: StopIntent = session.wish.stop ?? {
    next: "rest",
    graceMs: 0,
    afterTurn: false,
    by: null,
    timedOut: null,
  };
  const quiet = fallSilent(session, input.evidence);
  const next: Session = amend(quiet.session, {
    state: "error",
    reason,
    wish: { stop },
    process: {
      createFailures: null,
      failure: "start-failed",
      exit: { code: null, signal: null, at: input.evidence.at },
      endedAt: input.evidence.at,
    },
  });
  return changed({ session: next, events: [...quiet.events, { type: "session-errored", reason }] });
}

/** Counted in the record, so that whoever asks learns why it does not start; told as news only when the cause is new. */
function createDelayed(
  session: Session,
  { code, evidence }: Extract<Observation, { type: "create-delayed" }>,
  context: Context,
): Outcome {
  const { process } = session;
  if (session.state !== "starting" || process.place !== null || session.wish.stop !== null) return unchanged(session);
  const { count, ...from } = process.createFailures ?? { count: 0, sinceAt: context.now, since: momentOf(context) };
  const isNews = count === 0 || session.reason.evidence.detail !== evidence.detail;
  const text = `Not started yet: ${sentence(evidence.detail)} Failed ${tries(count + 1, from.sinceAt)}; trying again.`;
  const reason: Reason = { code, text, evidence };
  return changed({
    session: amend(session, { reason, process: { createFailures: { count: count + 1, ...from } } }),
    events: isNews ? [{ type: "start-delayed", incarnation: process.incarnation, reason }] : [],
  });
}

function tries(count: number, sinceAt: number): string {
  return count === 1 ? "once" : `${count} times since ${new Date(sinceAt).toISOString()}`;
}

function sentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}

function environmentLost(session: Session, evidence: Evidence): Outcome {
  const reason: Reason = { code: "environment-lost", text: evidence.detail, evidence };
  return changed({ session, events: [{ type: "environment-lost", incarnation: session.process.incarnation, reason }] });
}

function foundUnreachable(session: Session, evidence: Evidence): Outcome {
  const { process } = session;
  if (process.exit !== null || process.liveness.status === "unreachable") return unchanged(session);
  const liveness = { status: "unreachable", evidence } as const;
  return changed({
    session: amend(session, { process: { liveness } }),
    events: [{ type: "liveness-changed", from: process.liveness.status, liveness }],
  });
}

function suspended(session: Session, evidence: Evidence): Outcome {
  if (session.process.suspended || session.process.exit !== null) return unchanged(session);
  const reason: Reason = { code: "pause-suspend", text: pauseSentence("suspend"), evidence };
  const next: Session = amend(session, { process: { suspended: true } });
  if (session.wish.desired !== "paused" || session.state === "paused") return changed({ session: next, events: [] });
  return changed({ session: { ...next, state: "paused", reason }, events: [{ type: "session-paused", reason }] });
}

function released(session: Session, evidence: Evidence): Outcome {
  if (!session.process.suspended || session.process.exit !== null) return unchanged(session);
  const next: Session = amend(session, { process: { suspended: false } });
  if (session.wish.desired !== "running" || session.state !== "paused") return changed({ session: next, events: [] });
  const reason: Reason = { code: "resumed", text: "Resumed on request: the processes go on.", evidence };
  return changed({ session: { ...next, state: "running", reason }, events: [{ type: "session-resumed", reason }] });
}

/** No process of this incarnation is left: proven. What the stop was for follows. */
function cleared(session: Session, input: Extract<Observation, { type: "cleared" }>, context: Context): Outcome {
  const { wish, process } = session;
  const { evidence } = input;
  if (wish.stop === null) return unchanged(session);
  // An end that overtook a restart: the place is still there, and goes with the next attempt.
  if (wish.stop.next === "stopped" && !input.isPlaceGone) return unchanged(session);
  const { next: nextStep } = wish.stop;
  const dead = process.exit === null ? overNow(session, evidence, context) : { session, events: [] };
  const clearedEvent: SessionEvent = { type: "session-cleared", incarnation: process.incarnation, evidence };
  // Even one that never had a process is over now: nothing seen later may revive it.
  const exit = dead.session.process.exit ?? { code: null, signal: null, at: context.now };
  const { lastLine = session.notice.lastLine } = input;
  const rested: Session = amend(dead.session, {
    process: { exit, createFailures: null, suspended: false },
    wish: { stop: null },
    notice: { lastLine },
  });
  const events = [...dead.events, clearedEvent];
  if (nextStep === "rest") return changed(givenUp(rested, events));
  if (nextStep === "restart") {
    const reason: Reason = { code: "restart", text: "Starting again on request.", evidence };
    return changed(startNext(rested, events, reason));
  }
  const reason: Reason = { code: "ended", text: `${endSentence(session)} ${evidence.detail}`, evidence };
  const stopped: Session = amend(rested, {
    state: "stopped",
    reason,
    process: { endedAt: process.endedAt ?? context.now, passes: [] },
  });
  const isAfterExit = dead.session.process.exit !== null;
  const stoppedEvent: SessionEvent = {
    type: "session-stopped",
    reason,
    isAfterExit,
    ...endAskedBy(session),
    ...endedByTimeOut(session),
  };
  return changed({ session: stopped, events: [...events, stoppedEvent] });
}

/** The end of what never had a process, as far as the record goes, is not reported as a death. */
function overNow(session: Session, evidence: Evidence, context: Context): Change {
  if (session.process.place === null) return fallSilent(session, evidence);
  return die(session, { code: null, signal: null, at: context.now }, evidence, context);
}

function because(code: string, evidence: Evidence): Reason {
  return { code, text: evidence.detail, evidence };
}
