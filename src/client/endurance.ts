/**
 * Repeats a request if the daemon dies before it answers: for a while, with
 * growing pauses, until the next daemon answers. The request must be harmless
 * to repeat; call.ts makes it so with a key.
 */
import { systemClock } from "../platform/clock.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import { isCrashed } from "./problem.ts";
import type { Link } from "./request.ts";

/** A busy machine takes seconds to start a daemon; half a minute of deaths is no accident any more. */
export const ENDURANCE_MS = 30_000;
/** One that dies whenever it is started will not start; a kill in the middle of a start is over sooner. */
const START_ENDURANCE_MS = 10_000;
/** A question that was being answered for so long did not fail at once: the next failure is another story. */
const STEADY_MS = 5_000;
/** Whoever waits this long wonders why. */
const TELL_AFTER_MS = 3_000;
const FIRST_PAUSE_MS = 30;
const LONGEST_PAUSE_MS = 500;
/** Only where every try is slow: the time alone would then never run out. */
const MOST_TRIES = 100;

/**
 * The daemon was lost over it, is dying, stopping or being started: another answer may come. Or it was kept from reading
 * for so long (a machine that is overloaded, or was asleep) that it took what had arrived for late.
 */
const PASSING = new Set([
  "daemon-lost",
  "daemon-crowded",
  "daemon-not-started",
  "daemon-not-running",
  "request-late",
  "store-closed",
]);

export function isPassing(error: unknown): boolean {
  return error instanceof ReeveError && PASSING.has(error.code);
}

/** Like the others, and silence too: for those who would rather wait than know. */
export function isOutage(error: unknown): boolean {
  return isPassing(error) || (error instanceof ReeveError && ["daemon-silent", "daemon-stuck"].includes(error.code));
}

export async function enduring<T>(link: Link, attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let failingSince: number | null = null;
  let failures = 0;
  let isTold = false;
  for (let tries = 1; ; tries++) {
    const begunAt = systemClock.monotonic();
    try {
      return await attempt();
    } catch (error) {
      const now = systemClock.monotonic();
      if (failingSince === null || now - begunAt > STEADY_MS) {
        failingSince = now;
        failures = 0;
      }
      if (tries >= MOST_TRIES || now - failingSince >= limitOf(link, error)) throw error;
      failures += 1;
      if (!isTold && now - failingSince > TELL_AFTER_MS) {
        isTold = true;
        link.notice?.(`${messageOf(error)} Trying again.`);
      }
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
      await systemClock.sleep(pauseMs, signal);
    }
  }
}

function limitOf(link: Link, error: unknown): number {
  if (!(error instanceof ReeveError) || !isPassing(error)) return 0;
  const enduranceMs = link.enduranceMs ?? ENDURANCE_MS;
  // Nobody here may start it, so waiting for one would be hoping.
  const mayStart = link.start !== null && (link.revival !== "after-crash" || isCrashed(error));
  if (error.code === "daemon-not-running" && !mayStart) return 0;
  return error.code === "daemon-not-started" ? Math.min(enduranceMs, START_ENDURANCE_MS) : enduranceMs;
}
