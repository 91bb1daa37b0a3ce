/**
 * Decides when Reeve starts a dead session again: exponential backoff with
 * jitter, and a bounded number of restarts in a sliding window, so that a
 * program that dies at once cannot keep the machine busy.
 */
import type { Exit, RestartPolicy, RestartRecord } from "./session.ts";

const FIRST_DELAY_MS = 1_000;
export const LONGEST_DELAY_MS = 300_000;
/** Restarts further back than this no longer count. */
export const WINDOW_MS = 3_600_000;
/** Within one window. With the backoff this is reached after about 10 minutes of dying at once. */
export const MOST_RESTARTS = 10;

export type RestartDecision =
  | { readonly restart: true; readonly delayMs: number; readonly attempt: number }
  | { readonly restart: false; readonly why: "policy" | "too-many" };

export function decideRestart(input: {
  readonly policy: RestartPolicy;
  readonly exit: Exit;
  readonly record: RestartRecord;
  readonly now: number;
  /** In [0, 1): spreads sessions that died together. */
  readonly random: number;
}): RestartDecision {
  const clean = input.exit.code === 0;
  if (input.policy === "never" || (input.policy === "on-failure" && clean)) return { restart: false, why: "policy" };
  const recent = recentRestarts(input.record.recentAt, input.now);
  if (recent.length >= MOST_RESTARTS) return { restart: false, why: "too-many" };
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** recent.length);
  return { restart: true, delayMs: Math.round(ceiling * (0.5 + input.random / 2)), attempt: recent.length + 1 };
}

/** Those inside the window; a clock set back must not make old ones count for ever. */
export function recentRestarts(recentAt: readonly number[], now: number): readonly number[] {
  return recentAt.filter((at) => Math.abs(now - at) < WINDOW_MS).slice(-MOST_RESTARTS);
}
