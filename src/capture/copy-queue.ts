/**
 * What is recorded is a copy that must not slow the stream it was made of. So
 * it waits here, up to a bound in bytes, until nothing has passed for a moment
 * or it has waited long enough. Then it is worked on for half a millisecond at a
 * time, between which the streams get their turn.
 */
export interface CopyQueue {
  /** Asks for room for so many bytes. False: there is none, and they cannot be recorded. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** Does it soon, in the order of asking. */
  soon(step: () => void): void;
}

const SLICE_MS = 0.5;
/** So long nothing must have come, … */
const QUIET_MS = 15;
/** … unless the first of it waits as long as this, … */
const LONGEST_WAIT_MS = 100;
/** … or there is as much as this. */
const MUCH_BYTES = 2 * 1_048_576;
/** Of all sessions together. */
export const MOST_COPIED = 24 * 1_048_576;

export function createCopyQueue(mostBytes = MOST_COPIED): CopyQueue {
  let taken = 0;
  let steps: (() => void)[] = [];
  let isScheduled = false;
  let firstAt = 0;
  let lastAt = 0;

  function wait(): void {
    const now = performance.now();
    const isDue = now - lastAt >= QUIET_MS || now - firstAt >= LONGEST_WAIT_MS || taken >= MUCH_BYTES;
    if (isDue) run();
    else setTimeout(wait, QUIET_MS);
  }

  function run(): void {
    const until = performance.now() + SLICE_MS;
    let done = 0;
    // What comes up meanwhile is for the next slice: one exchange must not keep the others waiting.
    const now = steps;
    steps = [];
    while (done < now.length && performance.now() < until) now[done++]?.();
    if (done < now.length) steps = [...now.slice(done), ...steps];
    isScheduled = steps.length > 0;
    if (isScheduled) setImmediate(run);
  }

  return {
    take(bytes) {
      if (taken + bytes > mostBytes) return false;
      taken += bytes;
      return true;
    },
    give(bytes) {
      taken -= bytes;
    },
    soon(step) {
      steps.push(step);
      lastAt = performance.now();
      if (isScheduled) return;
      isScheduled = true;
      firstAt = lastAt;
      setTimeout(wait, QUIET_MS);
    },
  };
}
