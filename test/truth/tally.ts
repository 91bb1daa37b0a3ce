/** Adds up results, by agent mode and in total. */
import type { Mode } from "./case.ts";
import { MODES } from "./case.ts";
import type { Kind } from "./finding.ts";
import { KINDS } from "./finding.ts";
import type { CaseResult, LaneResult } from "./run-case.ts";

export interface Tally {
  readonly sessions: number;
  readonly turns: number;
  readonly messages: number;
  readonly unknown: number;
  readonly corrected: number;
  readonly counts: Readonly<Record<Kind, number>>;
  readonly wakeDelays: readonly number[];
}

export interface Totals {
  readonly cases: number;
  readonly kills: number;
  readonly recoveries: readonly number[];
  readonly byMode: Readonly<Partial<Record<Mode, Tally>>>;
  readonly total: Tally;
}

export function addUp(results: readonly CaseResult[]): Totals {
  const lanes = results.flatMap((result) => result.lanes);
  const modes = MODES.filter((mode) => lanes.some((lane) => lane.mode === mode));
  return {
    cases: results.length,
    kills: results.reduce((sum, { kills }) => sum + kills, 0),
    recoveries: results.flatMap(({ recoveries }) => recoveries),
    byMode: Object.fromEntries(modes.map((mode) => [mode, tallyOf(lanes.filter((lane) => lane.mode === mode))])),
    total: tallyOf(lanes),
  };
}

function tallyOf(lanes: readonly LaneResult[]): Tally {
  const sum = (pick: (lane: LaneResult) => number): number => lanes.reduce((before, lane) => before + pick(lane), 0);
  const found = lanes.flatMap(({ findings }) => findings);
  const counts = Object.fromEntries(
    Object.keys(KINDS).map((kind) => [kind, found.filter((finding) => finding.kind === kind).length]),
  ) as Record<Kind, number>;
  return {
    sessions: lanes.length,
    turns: sum(({ turns }) => turns),
    messages: sum(({ messages }) => messages),
    unknown: sum(({ unknown }) => unknown),
    corrected: sum(({ corrected }) => corrected),
    counts,
    wakeDelays: lanes.flatMap((lane) => lane.wakeDelays),
  };
}

/** Of sorted or unsorted values; null without any. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
}
