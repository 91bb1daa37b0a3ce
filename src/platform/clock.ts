/**
 * The clock that the rest of Reeve uses. Wall time is for people and records.
 * Deadlines and delays use only monotonic time, so a clock jump does not fire
 * or delay a timer.
 */
export interface Clock {
  /** Milliseconds since the epoch: for records, never for deadlines. */
  now(): number;
  /** Milliseconds on a clock that never jumps. */
  monotonic(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `act` once, `ms` from now on the monotonic clock, unless what it returns is called before. Keeps no process alive. */
  after(ms: number, act: () => void): () => void;
}

/** `setTimeout` takes anything longer for 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(abortError(signal));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
  after(ms, act) {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (step < left ? arm(left - step) : act()), step).unref();
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};

function abortError(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("aborted");
}
