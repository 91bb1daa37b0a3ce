/**
 * A clock that stands still until the test turns it. What is due happens in
 * order, each at its time, and what follows from it at once happens before the
 * next. What waits for a disk or a process is waited for with `eventually`.
 */
import type { Clock } from "../../src/platform/clock.ts";

export interface TestClock extends Clock {
  /** Time goes on for so long. */
  advance(ms: number): Promise<void>;
  /** Time goes on, in small steps, until this is over. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Nothing runs for so long; what was due meanwhile happens late, at its end. */
  holdUp(ms: number): Promise<void>;
  /** Somebody sets the wall clock: the other clocks do not notice. */
  jump(ms: number): void;
  /** The machine slept: the monotonic clock does not notice. */
  sleepMachine(ms: number): void;
  /** In how many milliseconds each thing that waits is due. */
  waiting(): readonly number[];
}

const STEP_MS = 50;

export function makeTestClock(): TestClock {
  let monotonic = 0;
  let jumped = 1_000_000;
  let slept = 0;
  const timers = new Set<{ readonly dueAt: number; readonly act: () => void }>();

  /** Of those that are due by then, the first. */
  async function fireUntil(end: number): Promise<void> {
    for (;;) {
      const [next] = [...timers].filter(({ dueAt }) => dueAt <= end).toSorted((one, two) => one.dueAt - two.dueAt);
      if (next === undefined) break;
      monotonic = Math.max(monotonic, next.dueAt);
      timers.delete(next);
      next.act();
      await aMoment();
    }
  }

  function after(ms: number, act: () => void): () => void {
    const timer = { dueAt: monotonic + ms, act };
    timers.add(timer);
    return () => void timers.delete(timer);
  }

  async function advance(ms: number): Promise<void> {
    // What was begun before gets as far as its own wait.
    await aMoment();
    const end = monotonic + ms;
    await fireUntil(end);
    monotonic = end;
    await aMoment();
  }

  return {
    now: () => monotonic + jumped,
    monotonic: () => monotonic,
    moment: () => ({ at: monotonic + jumped, boot: "test", upMs: monotonic }),
    uptime: () => monotonic + slept,
    after,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const cancel = after(ms, resolve);
        signal?.addEventListener("abort", () => {
          cancel();
          reject(new Error("aborted"));
        });
      }),
    advance,
    async during(work) {
      const state = { isOver: false };
      const over = (): void => void (state.isOver = true);
      work.then(over, over);
      while (!state.isOver) await advance(STEP_MS);
      return await work;
    },
    async holdUp(ms) {
      await aMoment();
      monotonic += ms;
      await fireUntil(monotonic);
    },
    jump: (ms) => void (jumped += ms),
    sleepMachine(ms) {
      jumped += ms;
      slept += ms;
    },
    waiting: () => [...timers].map(({ dueAt }) => dueAt - monotonic).toSorted((one, two) => one - two),
  };
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
