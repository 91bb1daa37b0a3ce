/**
 * A session whose record came from its state.json after the database was lost.
 * An agent can write that file. So Reeve uses it to find the process, but not
 * to start or answer anything: a barred session is not started until a person
 * asks for a restart. In the record that is `wish.held`; what people call a
 * hold is something else (stay.ts).
 */
import { amend } from "./amend.ts";
import type { Change } from "./outcome.ts";
import { fallSilent } from "./death.ts";
import type { Barred, Evidence, Place, Reason, Session, StopIntent } from "./session.ts";
import { isEnded } from "./session.ts";

/** The record as it may be taken from a file. */
export function bar(session: Session, at: number): Session {
  if (isEnded(session)) return session;
  const reason = `its record came from state.json after the database was lost; start it with: reeve restart ${session.identity.name}`;
  const evidence: Evidence = { source: "supervisor", detail: "the database was lost", at };
  const wasAboutToStart = session.process.restart.dueAt !== null || session.state === "planned";
  return amend(session, {
    state: session.state === "planned" ? "error" : session.state,
    reason: wasAboutToStart ? barredReason(reason, evidence) : session.reason,
    wish: { held: { reason, until: null }, stop: withoutRestart(session) },
    process: { restart: { ...session.process.restart, dueAt: null } },
    // Nothing that a file says has fired is done; what lasts too long is counted from now on.
    timeouts: { countdowns: [] },
    conversation: { approvals: session.conversation.approvals.map((approval) => ({ ...approval, answer: null })) },
  });
}

/** Where one of its processes is, if Reeve itself found it there; a file proves nothing. */
export function foundPlace({ process, wish }: Session, incarnation: number): Place | null {
  return wish.held === null && process.incarnation === incarnation ? process.place : null;
}

/** Its process is not there, and is not started. */
export function restBarred(session: Session, barred: Barred, evidence: Evidence): Change {
  const reason = barredReason(barred.reason, evidence);
  const quiet = fallSilent(session, evidence);
  const exit = { code: null, signal: null, at: evidence.at };
  return {
    session: amend(quiet.session, { state: "error", reason, process: { exit, endedAt: evidence.at } }),
    events: [...quiet.events, { type: "session-errored", reason }],
  };
}

function barredReason(why: string, evidence: Evidence): Reason {
  return { code: "barred", text: `Not started by itself: ${why}`, evidence };
}

/** A living process is left alone; what a dead one left behind is still ended. */
function withoutRestart({ wish: { stop }, process: { exit } }: Session): StopIntent | null {
  if (stop?.next !== "restart") return stop;
  return exit === null ? null : { ...stop, next: "rest" };
}
