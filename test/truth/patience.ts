/**
 * How late news may be. Reeve is told of what happens by processes of its own
 * (hooks, tmux), so on a busy machine the truth is ahead of every claim for a
 * moment; while the harness itself stopped or killed something, for longer.
 */
import type { History, Span } from "./history.ts";

/** On a quiet machine news takes tens of milliseconds; seconds are left for one with a load of ten. */
const GRACE_MS = 3_000;
/** One piece of news passes through so many processes that each may be late by the machine's delay. */
const STEPS = 5;

export function graceOf({ lagMs }: Pick<History, "lagMs">): number {
  return GRACE_MS + STEPS * lagMs;
}

/** From when on news of something at `since` is due by `at`: disturbances put it off. */
export function dueAfter(history: History, since: number, at: number): number {
  const ends = history.disturbances
    .filter((span) => span.from <= at && (span.to ?? at) >= since)
    .map((span) => span.to ?? at);
  return Math.max(since, ...ends) + graceOf(history);
}

export function isDisturbed({ disturbances }: History, from: number, to: number): boolean {
  return disturbances.some((span) => span.from <= to && (span.to ?? Number.POSITIVE_INFINITY) >= from);
}

export function contains(span: Span, at: number): boolean {
  return span.from <= at && at <= (span.to ?? Number.POSITIVE_INFINITY);
}
