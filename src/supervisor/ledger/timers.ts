/** What is to be done later for a session, once for each purpose: the earliest time asked for counts. */
import type { Clock } from "../../platform/clock.ts";

export interface Timers {
  /** Within `ms`, or sooner if that was asked for before. */
  atMost(sessionId: string, purpose: string, ms: number, act: () => void): void;
  cancel(sessionId: string, purpose: string): void;
  close(): void;
}

export function createTimers(clock: Clock): Timers {
  const timers = new Map<string, { readonly dueAt: number; readonly timer: NodeJS.Timeout }>();
  const keyOf = (sessionId: string, purpose: string): string => `${purpose} ${sessionId}`;

  return {
    atMost(sessionId, purpose, ms, act) {
      const key = keyOf(sessionId, purpose);
      const dueAt = clock.monotonic() + ms;
      const known = timers.get(key);
      if (known !== undefined && known.dueAt <= dueAt) return;
      clearTimeout(known?.timer);
      const timer = setTimeout(() => {
        timers.delete(key);
        act();
      }, ms);
      timers.set(key, { dueAt, timer: timer.unref() });
    },
    cancel(sessionId, purpose) {
      const key = keyOf(sessionId, purpose);
      clearTimeout(timers.get(key)?.timer);
      timers.delete(key);
    },
    close() {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
