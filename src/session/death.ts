/**
 * Applies the proven end of a process. It is reported once per incarnation. The
 * restart policy decides whether the session is started again.
 */
import { amend } from "./amend.ts";
import { lapseWithProcess } from "./apply-approval.ts";
import type { CallerName } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { Context } from "./input.ts";
import type { Change } from "./outcome.ts";
import { decideRestart, recentRestarts } from "./restart-policy.ts";
import type { Evidence, Exit, Reason, Session, StopIntent, Held } from "./session.ts";

/** Long enough for a shell to clean up; nobody waits for it. */
const RESIDUE_GRACE_MS = 2_000;

export function die(session: Session, exit: Exit, evidence: Evidence, context: Context): Change {
  if (session.process.exit !== null) return { session, events: [] };
  const reason: Reason = { code: exitCode(exit), text: exitSentence(exit, evidence), evidence };
  const status = exit.code === null && exit.signal === null ? "absent" : "exited";
  const quiet = fallSilent(session, evidence);
  const dead: Session = amend(quiet.session, {
    process: { exit, liveness: { status, evidence }, endedAt: context.now },
  });
  const { incarnation } = session.process;
  const exited: SessionEvent = { type: "session-exited", incarnation, exit, reason, ...endAskedBy(session) };
  // An end or restart that is under way already says what follows.
  const events = [...quiet.events, exited];
  if (session.wish.stop !== null) return { session: dead, events };
  return settle(amend(dead, { wish: { stop: residue() } }), exit, reason, events, context);
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
      process: { suspended: false },
    }),
    events: lapsed.events,
  };
}

/** It ended by itself: stopped, error, or scheduled to start again. */
function settle(dead: Session, exit: Exit, reason: Reason, events: readonly SessionEvent[], context: Context): Change {
  const isClean = exit.code === 0;
  const settled: Session = { ...dead, state: isClean ? "stopped" : "error", reason };
  const fact: SessionEvent = { type: isClean ? "session-stopped" : "session-errored", reason, isAfterExit: true };
  const record = { ...dead.process.restart, recentAt: recentRestarts(dead.process.restart.recentAt, context.now) };
  const policy = dead.wish.desired === "running" && dead.wish.held === null ? dead.identity.restartPolicy : "never";
  const decision = decideRestart({ policy, exit, record, now: context.now, random: context.random });
  if (decision.restart) {
    const dueAt = context.now + decision.delayMs;
    const why: Reason = {
      ...reason,
      text: `${reason.text} Starting again in ${Math.ceil(decision.delayMs / 1000)} s (attempt ${decision.attempt}).`,
    };
    return {
      session: amend(settled, { reason: why, process: { restart: { ...record, dueAt } } }),
      events: [...events, fact, { type: "restart-scheduled", dueAt, reason: why }],
    };
  }
  if (decision.why === "policy") {
    const rests: Session =
      dead.wish.held === null || isClean ? settled : { ...settled, reason: notStarted(reason, dead.wish.held) };
    return { session: amend(rests, { process: { restart: record } }), events: [...events, fact] };
  }
  const given: Reason = {
    ...reason,
    code: "restarts-exhausted",
    text: `${reason.text} Not started again: it died too often; look at its data, then use restart.`,
  };
  return {
    session: amend(settled, { state: "error", reason: given, process: { restart: record } }),
    events: [...events, fact, { type: "restart-abandoned", reason: given }],
  };
}

function notStarted(reason: Reason, held: Held): Reason {
  return { ...reason, text: `${reason.text} Not started again: ${held.reason}` };
}

/** What the dead process left behind is ended too; the place stays for a restart. */
function residue(): StopIntent {
  return { next: "rest", graceMs: RESIDUE_GRACE_MS, afterTurn: false, by: null };
}

function exitCode(exit: Exit): string {
  if (exit.signal !== null) return "killed";
  if (exit.code === null) return "gone";
  return exit.code === 0 ? "exited" : "failed";
}

function exitSentence(exit: Exit, evidence: Evidence): string {
  if (exit.signal !== null) return `Its process was killed by ${exit.signal}.`;
  if (exit.code === null) return `Its process is gone: ${evidence.detail}.`;
  return `Its process exited with status ${exit.code}.`;
}
