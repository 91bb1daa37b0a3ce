/** What an observation makes of a session: only what was proven, and only about the incarnation it names. */
import { isDeepStrictEqual } from "node:util";
import { RESTART_POLICY_CODE } from "./ask.ts";
import { answerFailed, answerGiven } from "./apply-approval.ts";
import { applyReading } from "./apply-reading.ts";
import { die, fallSilent } from "./death.ts";
import type { SessionEvent } from "./event.ts";
import { restHeld } from "./hold.ts";
import type { Context, Observation, PlannedWatch } from "./input.ts";
import type { Change, Outcome } from "./outcome.ts";
import { changed, unchanged } from "./outcome.ts";
import { pauseSentence } from "./pause-sentence.ts";
import type { Activity, Evidence, Place, Reason, Session, StopIntent } from "./session.ts";
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
        die(session, { code: input.code, signal: input.signal, at: context.now }, input.evidence, context),
      );
    case "found-absent":
      if (session.place === null) return absentBeforeCreation(session, input.evidence);
      if (!isAboutPlace(session, input.asked)) return unchanged(session);
      return changed(die(session, { code: null, signal: null, at: context.now }, input.evidence, context));
    case "found-unreachable":
      if (!isAboutPlace(session, input.asked)) return unchanged(session);
      return foundUnreachable(session, input.evidence);
    case "suspended":
      return suspended(session, input.evidence);
    case "released":
      return released(session, input.evidence);
    case "cleared":
      return cleared(session, input, context);
    case "stop-begun":
      if (session.stop?.afterTurn !== true) return unchanged(session);
      return changed({ session: { ...session, stop: { ...session.stop, afterTurn: false } }, events: [] });
    case "stop-delayed":
      return changed({
        session,
        events: [
          { type: "stop-delayed", incarnation: session.incarnation, reason: because("stop-delayed", input.evidence) },
        ],
      });
    case "restart-due":
      return restartDue(session, context);
    case "planned":
      return planned(session, input.plan);
    case "stalled":
      return stalled(session, input.evidence);
    case "answer-given":
      return answerGiven(session, input);
    case "answer-failed":
      return answerFailed(session, input);
    case "read":
      return changed(applyReading(session, input.reading, context));
    case "read-transcript":
      return changed(readTranscript(session, input, context));
  }
}

function absentBeforeCreation(session: Session, evidence: Evidence): Outcome {
  if (session.held === null || session.exit !== null) return unchanged(session);
  return changed(restHeld(session, session.held, evidence));
}

/**
 * Silence is about what the question knew. Before the effect has created it there is nothing to be absent, and an
 * answer that was under way while it was created does not know it.
 */
function isAboutPlace(session: Session, asked: Place | null): boolean {
  return session.place !== null && isSamePlace(session.place, asked);
}

/** What the agent planned for the incarnation that is about to be created. */
function planned(session: Session, { watch, nativeId, transcriptPath, observabilityReason }: PlannedWatch): Outcome {
  if (session.state !== "starting" || session.place !== null) return unchanged(session);
  const isElsewhere = transcriptPath !== null && transcriptPath !== session.observability.transcriptPath;
  const observability: Session["observability"] =
    session.observability.status === "observable" && !isElsewhere
      ? session.observability
      : {
          status: "pending",
          expected: true,
          reason: observabilityReason,
          transcriptPath: transcriptPath ?? session.observability.transcriptPath,
        };
  const next: Session = {
    ...session,
    watch,
    observability,
    nativeId: nativeId ?? session.nativeId,
    transcriptCursor: isElsewhere ? null : session.transcriptCursor,
  };
  // A first start was recorded with its plan: nothing to commit again.
  return isDeepStrictEqual(next, session) ? unchanged(session) : changed({ session: next, events: [] });
}

function stalled(session: Session, evidence: Evidence): Outcome {
  if (!session.turnOpen || session.stalledAt !== null || session.activity.status !== "working")
    return unchanged(session);
  return changed({
    session: { ...session, stalledAt: evidence.at },
    events: [{ type: "session-stalled", turn: session.turns, evidence }],
  });
}

function readTranscript(
  session: Session,
  { readings, cursor, said }: Extract<Observation, { type: "read-transcript" }>,
  context: Context,
): Change {
  const start: Change = { session: { ...session, transcriptCursor: cursor }, events: [] };
  const read = readings.reduce((before, reading) => {
    const after = applyReading(before.session, reading, context);
    return { session: after.session, events: [...before.events, ...after.events] };
  }, start);
  if (said === undefined) return read;
  return { ...read, session: { ...read.session, notice: { ...read.session.notice, said } } };
}

function foundRunning(
  session: Session,
  input: Extract<Observation, { type: "found-running" }>,
  context: Context,
): Outcome {
  // A death, once proven, is not taken back; a process of a dead incarnation is residue, and swept.
  if (session.exit !== null) return unchanged(session);
  const base = present(session, input, context);
  if (!input.adopted || base.refused !== null) return base;
  const adopted: SessionEvent = {
    type: "session-adopted",
    incarnation: session.incarnation,
    pid: input.shown.pid,
    evidence: input.evidence,
  };
  return changed({ session: base.session, events: [...base.events, adopted] });
}

type Present = Extract<Observation, { type: "created" | "found-running" }>;

/** Its process is there: proven by the runtime, just created or found again. */
function present(session: Session, { place, shown, evidence }: Present, context: Context): Outcome {
  if (session.exit !== null) return unchanged(session);
  const liveness = { status: "running", evidence } as const;
  if (session.state === "starting") {
    const reason: Reason = { code: "process-started", text: `Running as ${shown.text}.`, evidence };
    const activity: Activity = session.hasTurns
      ? session.activity
      : {
          status: "unknown",
          asks: null,
          evidence: { ...evidence, detail: "this agent does not say what it is doing" },
        };
    const next: Session = {
      ...session,
      state: "running",
      reason,
      place,
      createFailures: null,
      liveness,
      activity,
      startedAt: context.now,
      lastActivityAt: context.now,
    };
    return changed({
      session: next,
      events: [{ type: "session-running", incarnation: session.incarnation, reason, pid: shown.pid }],
    });
  }
  if (session.liveness.status === "running") return unchanged(session);
  return changed({
    session: { ...session, place, liveness },
    events: [{ type: "liveness-changed", from: session.liveness.status, liveness }],
  });
}

function createFailed(session: Session, input: Extract<Observation, { type: "create-failed" }>): Outcome {
  if (session.state !== "starting") return unchanged(session);
  const { detail } = input.evidence;
  const tried = session.createFailures;
  const text = tried === null ? detail : `${sentence(detail)} Given up after ${tries(tried.count + 1, tried.sinceAt)}.`;
  const reason: Reason = { code: input.code, text, evidence: input.evidence };
  // Whatever was half made is swept before anything else happens.
  const stop: StopIntent = session.stop ?? { next: "rest", graceMs: 0, afterTurn: false };
  const quiet = fallSilent(session, input.evidence);
  const next: Session = {
    ...quiet.session,
    state: "error",
    reason,
    stop,
    createFailures: null,
    exit: { code: null, signal: null, at: input.evidence.at },
    endedAt: input.evidence.at,
  };
  return changed({ session: next, events: [...quiet.events, { type: "session-errored", reason }] });
}

/** Counted in the record, so that whoever asks learns why it does not start; told as news only when the cause is new. */
function createDelayed(
  session: Session,
  { code, evidence }: Extract<Observation, { type: "create-delayed" }>,
  context: Context,
): Outcome {
  if (session.state !== "starting" || session.place !== null || session.stop !== null) return unchanged(session);
  const { count, sinceAt } = session.createFailures ?? { count: 0, sinceAt: context.now };
  const isNews = count === 0 || session.reason.evidence.detail !== evidence.detail;
  const text = `Not started yet: ${sentence(evidence.detail)} Failed ${tries(count + 1, sinceAt)}; trying again.`;
  const reason: Reason = { code, text, evidence };
  return changed({
    session: { ...session, reason, createFailures: { count: count + 1, sinceAt } },
    events: isNews ? [{ type: "start-delayed", incarnation: session.incarnation, reason }] : [],
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
  return changed({ session, events: [{ type: "environment-lost", incarnation: session.incarnation, reason }] });
}

function foundUnreachable(session: Session, evidence: Evidence): Outcome {
  if (session.exit !== null || session.liveness.status === "unreachable") return unchanged(session);
  const liveness = { status: "unreachable", evidence } as const;
  return changed({
    session: { ...session, liveness },
    events: [{ type: "liveness-changed", from: session.liveness.status, liveness }],
  });
}

function suspended(session: Session, evidence: Evidence): Outcome {
  if (session.suspended || session.exit !== null) return unchanged(session);
  const reason: Reason = { code: "pause-suspend", text: pauseSentence("suspend"), evidence };
  const next: Session = { ...session, suspended: true };
  if (session.desired !== "paused" || session.state === "paused") return changed({ session: next, events: [] });
  return changed({ session: { ...next, state: "paused", reason }, events: [{ type: "session-paused", reason }] });
}

function released(session: Session, evidence: Evidence): Outcome {
  if (!session.suspended || session.exit !== null) return unchanged(session);
  const next: Session = { ...session, suspended: false };
  if (session.desired !== "running" || session.state !== "paused") return changed({ session: next, events: [] });
  const reason: Reason = { code: "resumed", text: "Resumed on request: the processes go on.", evidence };
  return changed({ session: { ...next, state: "running", reason }, events: [{ type: "session-resumed", reason }] });
}

/** No process of this incarnation is left: proven. What the stop was for follows. */
function cleared(session: Session, input: Extract<Observation, { type: "cleared" }>, context: Context): Outcome {
  const { evidence } = input;
  if (session.stop === null) return unchanged(session);
  // An end that overtook a restart: the place is still there, and goes with the next attempt.
  if (session.stop.next === "stopped" && !input.isPlaceGone) return unchanged(session);
  const { next: nextStep } = session.stop;
  const dead = session.exit === null ? overNow(session, evidence, context) : { session, events: [] };
  const clearedEvent: SessionEvent = { type: "session-cleared", incarnation: session.incarnation, evidence };
  // Even one that never had a process is over now: nothing seen later may revive it.
  const exit = dead.session.exit ?? { code: null, signal: null, at: context.now };
  const { lastLine = session.notice.lastLine } = input;
  const notice = { ...session.notice, lastLine };
  const rested: Session = { ...dead.session, exit, createFailures: null, stop: null, suspended: false, notice };
  const events = [...dead.events, clearedEvent];
  if (nextStep === "rest") return changed({ session: rested, events });
  if (nextStep === "restart") {
    const reason: Reason = { code: "restart", text: "Starting again on request.", evidence };
    return changed(startNext(rested, events, reason, rested.restart.recentAt));
  }
  const reason: Reason = { code: "ended", text: `Ended on request. ${evidence.detail}`, evidence };
  const stopped: Session = { ...rested, state: "stopped", reason, endedAt: session.endedAt ?? context.now };
  const isAfterExit = dead.session.exit !== null;
  return changed({ session: stopped, events: [...events, { type: "session-stopped", reason, isAfterExit }] });
}

/** The end of what never had a process, as far as the record goes, is not reported as a death. */
function overNow(session: Session, evidence: Evidence, context: Context): Change {
  if (session.place === null) return fallSilent(session, evidence);
  return die(session, { code: null, signal: null, at: context.now }, evidence, context);
}

function restartDue(session: Session, context: Context): Outcome {
  if (session.restart.dueAt === null || session.stop !== null || session.desired !== "running" || session.held !== null)
    return unchanged(session);
  const evidence: Evidence = {
    source: "supervisor",
    detail: `restart policy ${session.restartPolicy}`,
    at: context.now,
  };
  const reason: Reason = {
    code: RESTART_POLICY_CODE,
    text: `Starting again by its restart policy (${session.restartPolicy}).`,
    evidence,
  };
  return changed(startNext(session, [], reason, [...session.restart.recentAt, context.now]));
}

function startNext(
  session: Session,
  before: readonly SessionEvent[],
  reason: Reason,
  recentAt: readonly number[],
): Change {
  const incarnation = session.incarnation + 1;
  const next: Session = {
    ...session,
    state: "starting",
    reason,
    incarnation,
    place: null,
    createFailures: null,
    exit: null,
    endedAt: null,
    suspended: false,
    turnOpen: false,
    approvals: [],
    background: [],
    stalledAt: null,
    liveness: { status: "absent", evidence: { ...reason.evidence, detail: "its process has not been started yet" } },
    activity: { status: "starting", asks: null, evidence: reason.evidence },
    restart: { count: session.restart.count + 1, recentAt, dueAt: null },
    notice: { ...session.notice, lastLine: null },
  };
  return { session: next, events: [...before, { type: "session-starting", incarnation, reason }] };
}

function because(code: string, evidence: Evidence): Reason {
  return { code, text: evidence.detail, evidence };
}
