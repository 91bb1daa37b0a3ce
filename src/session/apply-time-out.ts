/** Decides which time-out of a session is due at a moment, and what its record becomes when one fires. Pure. */
import type { Moment } from "../platform/clock.ts";
import { durationText } from "../platform/duration.ts";
import { amend } from "./amend.ts";
import { spentMs, turnCountdown } from "./countdown.ts";
import type { SessionEvent } from "./event.ts";
import type { Context, Observation } from "./input.ts";
import { isAskedToStop, withFailedInterrupt } from "./interrupt.ts";
import { momentOf } from "./moment.ts";
import { changed, type Outcome, unchanged } from "./outcome.ts";
import type { Evidence, Reason, Session, StopIntent } from "./session.ts";
import { holdLeftMs, mustStay, warningMs } from "./stay.ts";
import {
  type ChosenTimeOut,
  type ChosenTimeOuts,
  TIME_OUTS,
  type TimeOutAction,
  type TimeOutName,
} from "./time-out.ts";
import type { Countdown, FiredTimeOut } from "./time-out-record.ts";

/** What time alone will change about a session next. */
export type NextTimeOut =
  | { readonly do: "fire"; readonly leftMs: number; readonly which: TimeOutName; readonly cause: string }
  | { readonly do: "lapse-hold" | "warn-of-hold"; readonly leftMs: number };

/** The one that is due first; null: time changes nothing about it. */
export function nextTimeOut(session: Session, chosen: ChosenTimeOuts, now: Moment): NextTimeOut | null {
  const due: NextTimeOut[] = session.timeouts.countdowns.flatMap((countdown) => {
    const { which, cause, fired } = countdown;
    const afterMs = afterMsOf(session, which, chosen);
    if (fired !== null || countdown.since === null || afterMs === null || !mayFire(session, which)) return [];
    return [{ do: "fire", leftMs: Math.max(0, afterMs - spentMs(countdown, now)), which, cause } as const];
  });
  const hold = nextOfHold(session, chosen, now);
  return [...due, ...(hold === null ? [] : [hold])].toSorted((one, other) => one.leftMs - other.leftMs)[0] ?? null;
}

/** How long the processes may take to end was said when their end was asked for. */
function afterMsOf({ wish }: Session, which: TimeOutName, chosen: ChosenTimeOuts): number | null {
  return which === "stop_grace" ? (wish.stop?.graceMs ?? null) : chosen[which].afterMs;
}

function mayFire(session: Session, which: TimeOutName): boolean {
  if (which === "idle") return !mustStay(session);
  if (which === "age") return !mustStay(session) && session.process.exit === null && session.wish.desired !== "stopped";
  return true;
}

/** It is told before only where the session would be ended right after it. */
function nextOfHold(session: Session, chosen: ChosenTimeOuts, now: Moment): NextTimeOut | null {
  const { stay } = session.wish;
  if (stay === null) return null;
  const leftMs = holdLeftMs(stay, now);
  if (stay.isEnding || !endsAfterHold(session, chosen, now, leftMs)) return { do: "lapse-hold", leftMs };
  return { do: "warn-of-hold", leftMs: Math.max(0, leftMs - warningMs(stay)) };
}

function endsAfterHold(session: Session, chosen: ChosenTimeOuts, now: Moment, leftMs: number): boolean {
  const released = amend(session, { wish: { stay: null } });
  return session.timeouts.countdowns.some((countdown) => {
    const { which, fired, since } = countdown;
    const { afterMs, action } = chosen[which];
    if ((which !== "idle" && which !== "age") || action !== "end" || afterMs === null) return false;
    return fired === null && since !== null && mayFire(released, which) && spentMs(countdown, now) + leftMs >= afterMs;
  });
}

type TimedOut = Extract<Observation, { type: "timed-out" }>;

/** Only what is due by this moment fires, and once: what was asked for late, twice or by an earlier daemon changes nothing. */
export function timedOut(session: Session, input: TimedOut, context: Context): Outcome {
  const { which, cause, chosen } = input;
  const now = momentOf(context);
  const countdown = session.timeouts.countdowns.find((one) => one.which === which && one.cause === cause);
  const afterMs = which === "stop_grace" ? (session.wish.stop?.graceMs ?? null) : chosen.afterMs;
  if (countdown === undefined || countdown.fired !== null || countdown.since === null) return unchanged(session);
  if (afterMs === null || !mayFire(session, which) || spentMs(countdown, now) < afterMs) return unchanged(session);
  const { action, instead } = actionOf(session, chosen, input);
  const evidence: Evidence = { source: "supervisor", detail: happened(which, afterMs), at: context.now };
  const text = [`${evidence.detail}.`, instead ?? DID[action]].join(" ");
  const reason: Reason = { code: `${which.replace("_", "-")}-time-out`, text, evidence };
  const fired: FiredTimeOut = { at: context.now, afterMs, action, failed: instead };
  const afterSeconds = afterMs / 1_000;
  const event: SessionEvent = {
    type: "timed-out",
    which,
    afterSeconds,
    action,
    reason,
    ...aboutOf(session, countdown),
  };
  const marked = withFired(session, countdown, fired);
  return changed(taken(marked, { which, action, event, reason, graceMs: input.graceMs }));
}

const DID = {
  report: "Reeve leaves it alone.",
  interrupt: "Reeve interrupts the turn.",
  end: "Reeve ends the session.",
  kill: "Reeve kills what is left of them.",
} as const satisfies Record<TimeOutAction, string>;

/** What can be done of what was chosen, and why it is less than that. */
function actionOf(
  session: Session,
  { action }: ChosenTimeOut,
  { which, canInterrupt }: TimedOut,
): { readonly action: TimeOutAction; readonly instead: string | null } {
  if (which === "stop_grace") return { action: "kill", instead: null };
  if (action === "interrupt" && !canInterrupt)
    return { action: "report", instead: "Its agent cannot be interrupted, so Reeve only reports it." };
  if (action === "end" && mustStay(session))
    return { action: "report", instead: "The session is held, so Reeve does not end it." };
  return { action, instead: null };
}

function happened(which: TimeOutName, afterMs: number): string {
  const after = durationText(afterMs);
  switch (which) {
    case "start":
      return `It has not said within ${after} that it is ready`;
    case "turn":
      return `Its turn is under way for ${after}`;
    case "idle":
      return `Nothing has happened in it for ${after}`;
    case "approval":
      return `It has waited ${after} for an answer`;
    case "stop_grace":
      return `Its processes did not end within ${after}`;
    case "age":
      return `It was started ${after} ago`;
  }
}

function aboutOf({ conversation }: Session, { which, cause }: Countdown): { turn?: number; approvalId?: string } {
  if (which === "turn") return { turn: conversation.turns };
  const approval = conversation.approvals.find(({ id, requestedAt }) => cause === `${id} ${requestedAt}`);
  return which === "approval" && approval !== undefined ? { approvalId: approval.id } : {};
}

function withFired(session: Session, countdown: Countdown, fired: FiredTimeOut): Session {
  const countdowns = session.timeouts.countdowns.map((one) => (one === countdown ? { ...one, fired } : one));
  return amend(session, { timeouts: { countdowns } });
}

function taken(
  session: Session,
  what: {
    readonly which: TimeOutName;
    readonly action: TimeOutAction;
    readonly event: SessionEvent;
    readonly reason: Reason;
    readonly graceMs: number;
  },
): { readonly session: Session; readonly events: readonly SessionEvent[] } {
  const { which, action, event, reason } = what;
  if (action === "kill") {
    const { stop } = session.wish;
    return {
      session: amend(session, { wish: { stop: stop === null ? null : { ...stop, graceMs: 0 } } }),
      events: [event],
    };
  }
  if (action !== "end") {
    if (which !== "start") return { session, events: [event] };
    const activity = { status: "unknown", asks: null, evidence: reason.evidence } as const;
    const from = session.conversation.activity.status;
    return {
      session: amend(session, { conversation: { activity } }),
      events: [event, { type: "activity-changed", from, activity }],
    };
  }
  const stop: StopIntent = {
    next: "stopped",
    graceMs: what.graceMs,
    // What is under way is finished first, unless that is what lasts too long.
    afterTurn: which === "age" || which === "idle",
    by: "system",
    timedOut: { which, text: reason.evidence.detail },
  };
  return {
    session: amend(session, {
      wish: { desired: "stopped", pauseMode: null, stop },
      process: { restart: { ...session.process.restart, dueAt: null } },
    }),
    events: [event, { type: "end-requested", reason }],
  };
}

/** The turn goes on, although it was to be stopped: somebody has to look. */
export function interruptFailed(session: Session, input: Extract<Observation, { type: "interrupt-failed" }>): Outcome {
  const countdown = turnCountdown(session);
  if (!session.conversation.turnOpen || session.conversation.turns !== input.turn) return unchanged(session);
  const fired = countdown?.fired ?? null;
  const isTimedOut = countdown !== undefined && fired !== null && fired.failed === null;
  if (!isTimedOut && !isAskedToStop(session)) return unchanged(session);
  const reason: Reason = { code: "interrupt-failed", text: input.evidence.detail, evidence: input.evidence };
  const next = withFailedInterrupt(session);
  return changed({
    session: isTimedOut ? withFired(next, countdown, { ...fired, failed: input.evidence.detail }) : next,
    events: [{ type: "interrupt-failed", turn: input.turn, reason }],
  });
}

/** Of a stop that a time-out asked for: for the events that tell of the end. */
export function endedByTimeOut({ wish: { stop } }: Session): { readonly timedOut?: TimeOutName } {
  const timeOut = stop?.timedOut ?? null;
  return timeOut === null ? {} : { timedOut: timeOut.which };
}

/** "Ended on request.", or by which time-out. */
export function endSentence({ wish: { stop } }: Session): string {
  const timeOut = stop?.timedOut ?? null;
  if (timeOut === null) return "Ended on request.";
  const { which, text } = timeOut;
  return `Ended by its ${TIME_OUTS[which].name} time-out: ${text.charAt(0).toLowerCase()}${text.slice(1)}.`;
}
