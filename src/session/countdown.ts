/**
 * The part of a session's record by which its time-outs fire: one countdown
 * for each thing that may last too long (this start, this turn, this idle
 * time, this question, this stop, the session itself). `withCountdowns` keeps
 * them true to the rest of the record after every transition, so nothing else
 * in the domain has to think of time-outs.
 *
 * How much of it has passed is counted on moments: within one boot of the
 * machine neither a daemon that was killed nor a wall clock that was set
 * changes it. That one has fired stands in the countdown itself, in the same
 * commit as what follows from it: so it fires once for each cause.
 */
import type { Moment } from "../platform/clock.ts";
import { amend } from "./amend.ts";
import { worksInBackground } from "./background.ts";
import { elapsedMs } from "./moment.ts";
import { isEnded, type Session } from "./session.ts";
import type { TimeOutName } from "./time-out.ts";
import type { Countdown, FiredTimeOut } from "./time-out-record.ts";

export function spentMs({ spentMs: before, since }: Countdown, now: Moment): number {
  return before + (since === null ? 0 : elapsedMs(since, now));
}

/** After every change of the record. The same session back where nothing about its countdowns changed. */
export function withCountdowns(session: Session, now: Moment): Session {
  const { countdowns: before } = session.timeouts;
  const causes = causesOf(session);
  const kept = before.filter((one) => isForGood(session, one) && !causes.some((cause) => isOf(one, cause)));
  const counted = causes.map((cause) =>
    counting(
      before.find((one) => isOf(one, cause)),
      cause,
      now,
    ),
  );
  const countdowns = [...counted, ...kept];
  const isSame = countdowns.length === before.length && countdowns.every((one) => before.includes(one));
  return isSame ? session : amend(session, { timeouts: { countdowns } });
}

/** Whether something may last too long that nothing counts: an earlier version wrote the record. */
export function lacksCountdown(session: Session): boolean {
  return causesOf(session).some((cause) => !session.timeouts.countdowns.some((one) => isOf(one, cause)));
}

interface Cause {
  readonly which: TimeOutName;
  readonly cause: string;
  /** False: it is still the same, and its time does not count right now. */
  readonly isCounting: boolean;
}

function isOf(countdown: Countdown, { which, cause }: Cause): boolean {
  return countdown.which === which && countdown.cause === cause;
}

/** It fires once for an incarnation or a session, whatever is read of that later. */
function isForGood({ process }: Session, { which, cause, fired: has }: Countdown): boolean {
  if (which === "age") return true;
  return which === "start" && has !== null && cause === `${process.incarnation}`;
}

function counting(before: Countdown | undefined, { which, cause, isCounting }: Cause, now: Moment): Countdown {
  if (before === undefined) return { which, cause, spentMs: 0, since: isCounting ? now : null, fired: null };
  if (isCounting === (before.since !== null)) return before;
  return { ...before, spentMs: spentMs(before, now), since: isCounting ? now : null };
}

/** What may last too long, as the record stands. */
function causesOf(session: Session): readonly Cause[] {
  if (isEnded(session)) return [];
  const { wish, process, conversation, identity, state } = session;
  const { incarnation } = process;
  const { status, evidence } = conversation.activity;
  const isAlive = process.exit === null;
  const isThere = isAlive && process.liveness.status === "running" && !process.suspended;
  const isAsking = status === "awaiting-approval" || status === "awaiting-input";
  const isWatched = isAlive && identity.hasTurns && state === "running";
  const causes: Cause[] = [{ which: "age", cause: "session", isCounting: true }];
  const add = (which: TimeOutName, cause: string | number, isCounting: boolean): void =>
    void causes.push({ which, cause: `${cause}`, isCounting });
  if (isWatched && status === "starting") add("start", incarnation, isThere);
  if (isAlive && conversation.turnOpen) add("turn", `${incarnation} ${conversation.turns}`, isThere && !isAsking);
  if (isWatched && wish.stop === null && wish.desired === "running" && isIdle(session))
    add("idle", `${incarnation} ${conversation.turns}`, isThere);
  if (isAlive) {
    for (const { id, requestedAt, answer } of conversation.approvals)
      add("approval", `${id} ${requestedAt}`, isThere && answer === null);
    if (status === "awaiting-input") add("approval", questionCause(session, evidence.at), isThere);
  }
  const { stop } = wish;
  if (stop !== null && stop.next !== "rest" && !stop.afterTurn && stop.graceMs > 0)
    add("stop_grace", incarnation, true);
  return causes;
}

function isIdle({ conversation }: Session): boolean {
  return conversation.activity.status === "idle" && !conversation.turnOpen && !worksInBackground({ conversation });
}

/** Of a question that is no approval: as the inbox tells one from the next. */
function questionCause({ process, conversation }: Session, at: number): string {
  return `question ${process.incarnation} ${conversation.turns} ${at}`;
}

/** The countdown of the turn under way; undefined: none is. */
export function turnCountdown({ timeouts, process, conversation }: Session): Countdown | undefined {
  const cause = `${process.incarnation} ${conversation.turns}`;
  return timeouts.countdowns.find((one) => one.which === "turn" && one.cause === cause);
}

/** Of an approval, or of the question that is none (null): that it has waited too long. */
export function overdueOf(
  session: Session,
  approval: { readonly id: string; readonly requestedAt: number } | null,
): FiredTimeOut | null {
  const cause =
    approval === null
      ? questionCause(session, session.conversation.activity.evidence.at)
      : `${approval.id} ${approval.requestedAt}`;
  const own = session.timeouts.countdowns.find((one) => one.which === "approval" && one.cause === cause);
  return own?.fired ?? null;
}

/** The turn under way is to be stopped by its time-out, and that was not tried to the end. */
export function isTurnTimedOut(session: Session): boolean {
  const done = session.conversation.turnOpen ? turnCountdown(session)?.fired : null;
  return done?.action === "interrupt" && done.failed === null;
}
