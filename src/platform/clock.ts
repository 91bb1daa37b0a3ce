import { uptime } from "node:os";

/**
 * The clock that the rest of Reeve uses. Wall time is for people and records.
 * Deadlines and delays use only monotonic time, so a clock jump does not fire
 * or delay a timer.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * An instant that can be put into a record and still be compared after the
 * wall clock was set: `upMs` counts from when the machine was started, `boot`
 * names that start. Another daemon of the same boot reads the same counter.
 */
export interface Moment {
  /** Milliseconds since the epoch, as the wall clock was. */
  readonly at: number;
  readonly boot: string;
  readonly upMs: number;
}

export interface Clock {
  /** Milliseconds since the epoch: for records, never for deadlines. */
  now(): number;
  /** Milliseconds on a clock that never jumps. */
  monotonic(): number;
  /** For records of how long ago something was. */
  moment(): Moment;
  /** Milliseconds on a clock that never jumps and goes on while the machine sleeps: for waits that end outside it. */
  uptime(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `act` once, `ms` from now on the monotonic clock, unless what it returns is called before. Keeps no process alive. */
  after(ms: number, act: () => void): () => void;
}

/** `setTimeout` takes anything longer for 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not of `performance`: to have it, Node loads what measures performance, 1 ms of every command.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  moment: () => ({ at: Date.now(), boot: (boot ??= readBoot()), upMs: upMs() }),
  uptime: () => uptime() * 1_000,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(abortError(signal));
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
        Math.max(0, ms),
      );
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
  after(ms, act) {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (step < left ? arm(left - step) : act()), step).unref();
    };
    // What was due already is due now; Node warns of a negative time.
    arm(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

let boot: string | undefined;

/** Where the system does not name its boots, each daemon counts as one: then only the wall clock links them. */
function readBoot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return randomUUID();
  }
}

/** Unlike `performance.now`, this counts from the start of the machine, on Linux and macOS; not while it sleeps. */
function upMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + Math.floor(nanoseconds / 1_000_000);
}

function abortError(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("aborted");
}
