/**
 * What could not be read or asked is tried again until it works: nothing else
 * may ever happen that would cause another look. At first after a second, then
 * less and less often.
 */
import type { Scheduler } from "../ledger/scheduler.ts";

export interface Trials {
  /** Tries again later. True: the first failure in a row, which is worth a line in the log. */
  failed(sessionId: string, purpose: string, again: () => void): boolean;
  /** It worked, or nobody wants it any more. */
  over(sessionId: string, purpose: string): void;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

export function createTrials(scheduler: Scheduler): Trials {
  /** By session and purpose, after how long it is tried next. */
  const delays = new Map<string, number>();
  const keyOf = (sessionId: string, purpose: string): string => `${sessionId} ${purpose}`;
  const nameOf = (purpose: string): string => `${purpose} again`;
  return {
    failed(sessionId, purpose, again) {
      const key = keyOf(sessionId, purpose);
      const before = delays.get(key);
      const delay = before === undefined ? FIRST_MS : Math.min(LONGEST_MS, before * 2);
      delays.set(key, delay);
      scheduler.after(sessionId, nameOf(purpose), delay, again);
      return before === undefined;
    },
    over(sessionId, purpose) {
      if (delays.delete(keyOf(sessionId, purpose))) scheduler.cancel(sessionId, nameOf(purpose));
    },
  };
}
