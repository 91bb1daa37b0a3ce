/** When a process that cannot be created is given up: after the start's time-out, and not for a few failures. */
import type { Moment } from "../platform/clock.ts";
import { elapsedMs } from "./moment.ts";
import type { CreateFailures } from "./session.ts";
import { TIME_OUTS } from "./time-out.ts";

/** Fewer than this, 8 s of them, prove nothing. */
const FEWEST_FAILURES = 5;

/** It has just failed once more than `failures` says. */
export function isStartGivenUp(
  failures: CreateFailures | null,
  { afterMs }: { readonly afterMs: number | null },
  now: Moment,
): boolean {
  if (failures === null || failures.count + 1 < FEWEST_FAILURES) return false;
  // An earlier version knew the wall clock only.
  const agoMs = failures.since === null ? now.at - failures.sinceAt : elapsedMs(failures.since, now);
  return agoMs >= (afterMs ?? TIME_OUTS.start.afterMs);
}
