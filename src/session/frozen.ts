/**
 * A session whose processes somebody else froze, and let go on: paused by hand,
 * such as with `docker pause`. It counts as paused, so nothing is sent to it and
 * nothing takes it for dead or hung; `resume` lets it go on like any other.
 */
import { amend } from "./amend.ts";
import { changed, type Outcome, unchanged } from "./outcome.ts";
import type { Evidence, Reason, Session } from "./session.ts";

/** The code of the reason of one that is paused so. */
const PAUSED_OUTSIDE = "paused-outside";

/** Whether a look at a session that is found frozen, or not, tells anything that its record does not say. */
export function isFrostNews(session: Session, isFrozen: boolean): boolean {
  return isFrozen ? mayFreeze(session) : mayThaw(session);
}

export function frozen(session: Session, evidence: Evidence): Outcome {
  if (!mayFreeze(session)) return unchanged(session);
  const { name } = session.identity;
  const text = `It was paused outside of Reeve. Continue it with: reeve resume ${name}.`;
  const reason: Reason = { code: PAUSED_OUTSIDE, text, evidence };
  const next = amend(session, {
    wish: { desired: "paused", pauseMode: "suspend" },
    process: { suspended: true, liveness: { status: "running", evidence } },
  });
  return changed({ session: { ...next, state: "paused", reason }, events: [{ type: "session-paused", reason }] });
}

export function thawed(session: Session, evidence: Evidence): Outcome {
  if (!mayThaw(session)) return unchanged(session);
  const reason: Reason = { code: "resumed-outside", text: "It was continued outside of Reeve.", evidence };
  const next = amend(session, {
    wish: { desired: "running", pauseMode: null },
    process: { suspended: false, liveness: { status: "running", evidence } },
  });
  return changed({ session: { ...next, state: "running", reason }, events: [{ type: "session-resumed", reason }] });
}

function mayFreeze({ state, wish, process }: Session): boolean {
  const isMeantToRun = state === "running" && wish.desired === "running" && wish.stop === null;
  return isMeantToRun && !process.suspended && process.exit === null;
}

function mayThaw({ state, reason, wish, process }: Session): boolean {
  const isPausedSo = state === "paused" && reason.code === PAUSED_OUTSIDE && wish.desired === "paused";
  return isPausedSo && process.suspended && process.exit === null && wish.stop === null;
}
