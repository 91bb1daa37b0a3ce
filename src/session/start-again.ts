/** The next incarnation of a session: by its restart policy, when that is due, or on request. */
import { amend } from "./amend.ts";
import { RESTART_POLICY_CODE } from "./ask.ts";
import type { SessionEvent } from "./event.ts";
import { deathReason, inSeconds, saying } from "./follow-death.ts";
import type { Context } from "./input.ts";
import { momentOf } from "./moment.ts";
import type { Change, Outcome } from "./outcome.ts";
import { changed, unchanged } from "./outcome.ts";
import { attemptOf, dueIn, GIVEN_UP_CODE, withRestart } from "./restart-policy.ts";
import type { Evidence, Reason, Session } from "./session.ts";

export function restartDue(session: Session, context: Context): Outcome {
  if (!isAwaited(session)) return unchanged(session);
  const { restartPolicy } = session.identity;
  const evidence: Evidence = { source: "supervisor", detail: `restart policy ${restartPolicy}`, at: context.now };
  const text = `Starting again by its restart policy (${restartPolicy}).`;
  const restart = withRestart(session.process.restart, momentOf(context));
  return changed(
    startNext(amend(session, { process: { restart } }), [], { code: RESTART_POLICY_CODE, text, evidence }),
  );
}

/** It is due, and others come first (supervisor/restarts.ts). */
export function restartPostponed(session: Session, waitMs: number, context: Context): Outcome {
  const { exit, liveness, restart } = session.process;
  if (!isAwaited(session) || exit === null) return unchanged(session);
  const now = momentOf(context);
  const why = `Starting again in about ${inSeconds(waitMs)} (${attemptOf(restart, now)}): other sessions are started first.`;
  return changed({
    session: amend(session, {
      reason: saying(deathReason(exit, liveness.evidence), why),
      process: { restart: dueIn(restart, waitMs, now) },
    }),
    events: [],
  });
}

function isAwaited({ wish, process }: Session): boolean {
  return process.restart.dueAt !== null && wish.stop === null && wish.desired === "running" && wish.held === null;
}

/** Told only when the last of it is gone, so that what it said last can be told with it. */
export function givenUp(session: Session, events: readonly SessionEvent[]): Change {
  const { reason, notice } = session;
  if (reason.code !== GIVEN_UP_CODE) return { session, events };
  const whole = notice.lastLine === null ? reason : saying(reason, `Last on its screen: ${notice.lastLine}`);
  return { session: { ...session, reason: whole }, events: [...events, { type: "restart-abandoned", reason: whole }] };
}

export function startNext(session: Session, before: readonly SessionEvent[], reason: Reason): Change {
  const { restart } = session.process;
  const incarnation = session.process.incarnation + 1;
  const next: Session = amend(session, {
    state: "starting",
    reason,
    process: {
      incarnation,
      place: null,
      createFailures: null,
      exit: null,
      failure: null,
      endedAt: null,
      suspended: false,
      liveness: { status: "absent", evidence: { ...reason.evidence, detail: "its process has not been started yet" } },
      restart: { ...restart, count: restart.count + 1, dueAt: null, decided: null, running: null },
    },
    conversation: {
      turnOpen: false,
      approvals: [],
      background: [],
      stalledAt: null,
      activity: { status: "starting", asks: null, evidence: reason.evidence },
    },
    notice: { lastLine: null },
  });
  return { session: next, events: [...before, { type: "session-starting", incarnation, reason }] };
}
