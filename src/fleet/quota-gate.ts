/**
 * How a gate opens again: when it is due one session goes first, and if that
 * one gets an answer the others follow one by one. Decides from the records and
 * from what the sessions do; it keeps no state. Pure.
 */
import type { Moment } from "../platform/clock.ts";
import { isDeepStrictEqual } from "node:util";
import { failedTurnOf } from "../session/apply-limit.ts";
import type { Message } from "../session/message.ts";
import { isAsking } from "../session/next-step.ts";
import { takesMessages } from "../session/pending-effect.ts";
import { isPromptAhead } from "../session/prompt-ahead.ts";
import type { Session } from "../session/session.ts";
import { accountOf, changedQuota, type ClosedQuota, type Gate, holds, isClosed, type Quota } from "./quota.ts";

/** A session as the breaker sees it. */
export interface Draw {
  readonly sessionId: string;
  readonly account: string;
  /** Something is to be started or typed, as soon as it may. */
  readonly hasWork: boolean;
  /** It is about a turn that failed because of the limit. */
  readonly hasFailedTurn: boolean;
  /** Its process can be started or written to. */
  readonly mayGo: boolean;
  /** A turn is under way, or about to begin. */
  readonly isBusy: boolean;
  readonly isAsking: boolean;
  readonly turns: number;
  readonly outputTokens: number;
  readonly verdict: "completed" | "failed" | "interrupted" | null;
  readonly turnStartedAt: number | null;
  /** What it reported is not taken up yet. */
  readonly hasReport: boolean;
}

export function drawOf(
  session: Session,
  around: {
    readonly open: readonly Message[];
    readonly now: Moment;
    /** Whether Reeve goes on with turns that failed. */
    readonly resumes: boolean;
    /** It is to be woken. */
    readonly isWoken: boolean;
  },
): Draw | null {
  const account = accountOf(session);
  if (account === null) return null;
  const { wish, conversation, quota } = session;
  const failed = failedTurnOf(session);
  const hasFailedTurn = around.resumes && failed?.resumesItself === false;
  const isStart = session.state === "starting";
  return {
    sessionId: session.id,
    account,
    hasWork: isStart || around.open.length > 0 || hasFailedTurn || around.isWoken,
    hasFailedTurn,
    mayGo: wish.held === null && (isStart ? wish.desired === "running" && wish.stop === null : takesMessages(session)),
    isBusy: conversation.turnOpen || (!isStart && isPromptAhead(session, around.now)),
    isAsking: isAsking(session),
    turns: conversation.turns,
    outputTokens: conversation.usage?.outputTokens ?? 0,
    verdict: conversation.turnOpen ? null : (conversation.lastTurn?.verdict ?? null),
    turnStartedAt: conversation.lastTurn?.startedAt ?? null,
    hasReport: quota.rejections.length > 0,
  };
}

/** What only the daemon's clocks know. */
export interface Passed {
  /** How long the gate must still wait. */
  readonly leftMs: (quota: ClosedQuota) => number;
  /** How long its canary has been one. */
  readonly canaryMs: (quota: ClosedQuota) => number;
  /** An agent said that this limit is not reached, after it had become the canary. */
  readonly wasAnswered: (quota: ClosedQuota, sessionId: string) => boolean;
  /** It was a canary of this gate, and came to nothing. */
  readonly wasTried: (quota: ClosedQuota, sessionId: string) => boolean;
}

/** A canary that has not begun its turn by then makes room for another: somebody types in its terminal, or it hangs. */
const BEGINS_WITHIN_MS = 30_000;
/** The beginning of a turn is told so soon after what began it was typed. */
const TOLD_WITHIN_MS = 5_000;
/** A vendor that rejects says so at once, or after the agent's own retries; a turn that goes on for so long is answered. */
const ANSWERED_AFTER_MS = 300_000;
/** A turn that began within so long after the rejection may have been asked for before it. */
const OVERLAP_MS = 10_000;

/** `quotas`: all of one account, `draws`: all sessions that draw on it. Answers the records that change. */
export function advanced(
  quotas: readonly Quota[],
  draws: readonly Draw[],
  passed: Passed,
): { readonly changed: readonly Quota[]; readonly opened: readonly Quota[] } {
  const now = new Map(quotas.filter(isClosed).map((quota) => [quota.id, quota.gate] as const));
  const before = quotas.filter(isClosed);
  const opened = new Set<string>();
  for (const quota of before) {
    if (quota.gate.phase === "waiting" && passed.leftMs(quota) <= 0)
      now.set(quota.id, { ...quota.gate, phase: "probing", canary: null });
    const proof = draws.find((draw) => proves(quota, draw, passed));
    if (quota.gate.phase === "opening" || proof === undefined) continue;
    opened.add(quota.id);
    now.set(quota.id, { ...quota.gate, phase: "opening", canary: null, queue: queueOf(draws, proof) });
  }
  for (const quota of before) {
    const gate = now.get(quota.id);
    if (gate?.phase !== "probing" || gate.canary === null) continue;
    if (isVacant(quota, gate.canary, draws, now, passed)) now.set(quota.id, { ...gate, canary: null });
  }
  elect(before, draws, now, passed);
  const after = before.map((quota) => ({ quota, gate: finished(now.get(quota.id) ?? quota.gate) }));
  return {
    changed: after.flatMap(({ quota, gate }) =>
      isDeepStrictEqual(gate, quota.gate)
        ? []
        : [changedQuota(quota, { gate, ...(opened.has(quota.id) ? UNUSED : {}) })],
    ),
    opened: before.filter(({ id }) => opened.has(id)),
  };
}

/** What was said of a limit that has been reset since. */
const UNUSED = { usedPercent: null, resetsAt: null, warned: null } as const;

/** The next in the queue may go; those that have nothing to do any more leave it. */
export function released(quota: ClosedQuota, draws: readonly Draw[]): Quota {
  const isWaiting = (id: string): boolean => draws.some((draw) => draw.sessionId === id && draw.hasWork);
  const queue = quota.gate.queue.filter(isWaiting).slice(1);
  return changedQuota(quota, { gate: finished({ ...quota.gate, queue }) });
}

function finished(gate: Gate): Gate | null {
  return gate.phase === "opening" && gate.queue.length === 0 ? null : gate;
}

/** The vendor answers again: the canary got an answer, or a turn completed that was begun after the rejection. */
function proves(quota: ClosedQuota, draw: Draw, passed: Passed): boolean {
  const { phase, canary, dueAt, waitMs } = quota.gate;
  if (draw.hasReport) return false;
  if (canary?.sessionId === draw.sessionId) {
    if (draw.turns <= canary.turns) return false;
    const hasAnswer =
      draw.outputTokens > canary.outputTokens || draw.isAsking || passed.wasAnswered(quota, draw.sessionId);
    return draw.verdict === "completed" || (draw.isBusy && (hasAnswer || passed.canaryMs(quota) >= ANSWERED_AFTER_MS));
  }
  const from = phase === "waiting" ? dueAt - waitMs + OVERLAP_MS : dueAt;
  return draw.verdict === "completed" && draw.turnStartedAt !== null && draw.turnStartedAt >= from;
}

function queueOf(draws: readonly Draw[], proof: Draw): readonly string[] {
  const others = draws.filter((draw) => draw.hasWork && !draw.isBusy && draw.sessionId !== proof.sessionId);
  return others.toSorted(failedFirst).map(({ sessionId }) => sessionId);
}

function failedFirst(one: Draw, other: Draw): number {
  return Number(other.hasFailedTurn) - Number(one.hasFailedTurn);
}

function isVacant(
  quota: ClosedQuota,
  canary: NonNullable<Gate["canary"]>,
  draws: readonly Draw[],
  gates: ReadonlyMap<string, Gate>,
  passed: Passed,
): boolean {
  const draw = draws.find(({ sessionId }) => sessionId === canary.sessionId);
  if (draw === undefined) return true;
  if (draw.hasReport || draw.isBusy) return false;
  const hasHadItsTurn = draw.turns > canary.turns;
  if (hasHadItsTurn || !draw.mayGo || draw.isAsking) return true;
  if (!draw.hasWork && passed.canaryMs(quota) >= TOLD_WITHIN_MS) return true;
  if ([...gates].some(([id, gate]) => id !== quota.id && holds(gate, draw.sessionId))) return true;
  const isLate = passed.canaryMs(quota) >= BEGINS_WITHIN_MS;
  return isLate && draws.some((other) => other !== draw && isCandidate(other));
}

function isCandidate(draw: Draw): boolean {
  return draw.hasWork && draw.mayGo && !draw.isBusy && !draw.isAsking && !draw.hasReport;
}

/**
 * One session for all gates that are due at once: two canaries of one account
 * would each be held by the other's gate.
 */
function elect(quotas: readonly ClosedQuota[], draws: readonly Draw[], gates: Map<string, Gate>, passed: Passed): void {
  const vacant = quotas.filter(({ id }) => {
    const gate = gates.get(id);
    return gate?.phase === "probing" && gate.canary === null;
  });
  if (vacant.length === 0) return;
  const isFree = ({ sessionId }: Draw): boolean =>
    quotas.every((quota) => {
      const gate = gates.get(quota.id);
      return gate === undefined || vacant.includes(quota) || !holds(gate, sessionId);
    });
  const candidates = draws.filter((draw) => isCandidate(draw) && isFree(draw)).toSorted(failedFirst);
  const isFresh = ({ sessionId }: Draw): boolean => !vacant.some((quota) => passed.wasTried(quota, sessionId));
  const chosen = candidates.find(isFresh) ?? candidates[0];
  if (chosen === undefined) return;
  const { sessionId, turns, outputTokens } = chosen;
  for (const { id } of vacant) {
    const gate = gates.get(id);
    if (gate !== undefined) gates.set(id, { ...gate, canary: { sessionId, turns, outputTokens } });
  }
}
