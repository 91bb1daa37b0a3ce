/** Pauses and resumes a session, whoever wants it: on request, or because of its branch. */
import { amend } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import type { Change } from "./outcome.ts";
import type { PauseMode, Reason, Session } from "./session.ts";

export function pauseBecause(session: Session, mode: PauseMode, reason: Reason): Change {
  const wished: Session = amend(session, { wish: { desired: "paused", pauseMode: mode } });
  const requested: SessionEvent = { type: "pause-requested", reason };
  if (mode === "suspend" || session.process.suspended) return { session: wished, events: [requested] };
  if (session.state === "paused") return { session: { ...wished, reason }, events: [requested] };
  return {
    session: { ...wished, state: "paused", reason },
    events: [requested, { type: "session-paused", reason }],
  };
}

export function resumeBecause(session: Session, reason: Reason): Change {
  const wished: Session = amend(session, { wish: { desired: "running", pauseMode: null } });
  const requested: SessionEvent = { type: "resume-requested", reason };
  if (session.process.suspended || session.state === "running") return { session: wished, events: [requested] };
  return {
    session: { ...wished, state: "running", reason },
    events: [requested, { type: "session-resumed", reason }],
  };
}
