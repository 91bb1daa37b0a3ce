/**
 * Decides when Reeve starts a dead session again: exponential backoff with
 * jitter, and a bounded number of restarts in a sliding window, so that a
 * program that dies again and again cannot keep the machine busy. It counts on
 * moments, so that setting the wall clock changes nothing
 * (docs/decisions/0039-restart-policy.md).
 */
import type { Moment } from "../platform/clock.ts";
import { RESTART_POLICY_CODE } from "./ask.ts";
import { type FailureKind, treatmentOf } from "./failure.ts";
import { elapsedMs } from "./moment.ts";
import type { DeathCause, RestartPolicy, RestartRecord } from "./restart-record.ts";
import type { Exit, Session } from "./session.ts";

const FIRST_DELAY_MS = 1_000;
export const LONGEST_DELAY_MS = 300_000;
/** A process that ran for so long was well: the next pause is a short one again. */
export const GOOD_RUN_MS = 600_000;
/** Restarts further back no longer count. So long that a program which dies after each good run is given up as well. */
export const WINDOW_MS = 7_200_000;
/** Within one window. With the backoff this is reached after about 10 minutes of dying at once. */
export const MOST_RESTARTS = 10;

export type RestartDecision =
  | { readonly restart: true; readonly delayMs: number }
  | { readonly restart: false; readonly why: "policy" }
  /** It would fail the same way. */
  | { readonly restart: false; readonly why: "futile"; readonly failure: FailureKind }
  | { readonly restart: false; readonly why: "too-many"; readonly restarts: number; readonly sinceAt: number };

export function decideRestart(input: {
  readonly policy: RestartPolicy;
  readonly exit: Exit;
  /** Of which kind the death is, and how its last turn failed. */
  readonly failures: readonly FailureKind[];
  readonly record: RestartRecord;
  readonly now: Moment;
  /** In [0, 1): spreads sessions that died together. */
  readonly random: number;
}): RestartDecision {
  const { policy, exit, record, now } = input;
  if (!isWanted(policy, exit)) return { restart: false, why: "policy" };
  const failure = input.failures.find(isFutile);
  if (failure !== undefined) return { restart: false, why: "futile", failure };
  const counted = countedIn(record, now);
  if (counted.length >= MOST_RESTARTS)
    return { restart: false, why: "too-many", restarts: counted.length, sinceAt: counted[0]?.at ?? now.at };
  const inRow = counted.filter(({ isOvercome }) => !isOvercome).length;
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** inRow);
  return { restart: true, delayMs: Math.round(ceiling * (0.5 + input.random / 2)) };
}

export function isWanted(policy: RestartPolicy, exit: Exit): boolean {
  return policy === "always" || (policy === "on-failure" && exit.code !== 0);
}

/** Of the failures of a turn, those that come back whenever the process does, until a person acts. */
const LASTING: readonly FailureKind[] = ["not-logged-in", "billing"];

function isFutile(kind: FailureKind): boolean {
  const { scope, retry } = treatmentOf(kind);
  return (scope === "process" && retry === "no") || LASTING.includes(kind);
}

/** The record after a death that was seen now. */
export function afterDeath(record: RestartRecord, cause: DeathCause, now: Moment): RestartRecord {
  const ranWell = record.running !== null && elapsedMs(record.running, now) >= GOOD_RUN_MS;
  const recent = within(record, now);
  return {
    ...record,
    cause,
    ended: now,
    recent: ranWell ? recent.map((restart) => ({ ...restart, isOvercome: true })) : recent,
    dueAt: null,
    decided: null,
  };
}

/** With an automatic restart that happens now. */
export function withRestart(record: RestartRecord, now: Moment): RestartRecord {
  return { ...record, recent: [...record.recent, { ...now, cause: record.cause, isOvercome: false }] };
}

/** With the next one due after so long; `dueAt` is for people. */
export function dueIn(record: RestartRecord, delayMs: number, now: Moment): RestartRecord {
  return { ...record, dueAt: now.at + delayMs, decided: now };
}

/** How long until it is due; a wall clock that was set meanwhile neither strands nor hurries it. */
export function untilDueMs({ dueAt, decided }: RestartRecord, now: Moment): number | null {
  if (dueAt === null) return null;
  // An earlier version did not say when it was decided.
  const left = decided === null ? dueAt - now.at : dueAt - decided.at - elapsedMs(decided, now);
  return Math.min(LONGEST_DELAY_MS, Math.max(0, left));
}

/** Fewer restarts than this without a good run are bad luck. */
const LOOP_RESTARTS = 3;

export interface CrashLoop {
  readonly restarts: number;
  /** When the first of them was, by the wall clock. */
  readonly sinceAt: number;
  /** Reeve does not start it again. */
  readonly isGivenUp: boolean;
}

export const GIVEN_UP_CODE = "restarts-exhausted";

/** Whether it is down after it died again and again by itself; null: it is not. */
export function crashLoopOf({ state, reason, process: { restart } }: Session): CrashLoop | null {
  const isGivenUp = state === "error" && reason.code === GIVEN_UP_CODE;
  const isDown = restart.dueAt !== null || (state === "starting" && reason.code === RESTART_POLICY_CODE);
  const inRow = restart.recent.filter(({ cause, isOvercome }) => cause === "own" && (isGivenUp || !isOvercome));
  if (!isGivenUp && !(isDown && inRow.length >= LOOP_RESTARTS)) return null;
  return { restarts: inRow.length, sinceAt: inRow[0]?.at ?? reason.evidence.at, isGivenUp };
}

/** Which of its restarts the next one is, for people. */
export function attemptOf(record: RestartRecord, now: Moment): string {
  return `attempt ${countedIn(record, now).length + 1} of ${MOST_RESTARTS}`;
}

/** Those that count for a death of this cause. */
function countedIn(record: RestartRecord, now: Moment): RestartRecord["recent"] {
  return within(record, now).filter(({ cause }) => cause === record.cause);
}

function within({ recent }: RestartRecord, now: Moment): RestartRecord["recent"] {
  return recent.filter((restart) => elapsedMs(restart, now) < WINDOW_MS);
}
