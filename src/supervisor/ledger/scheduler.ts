/**
 * Does things later, once for each session (null: the home) and purpose.
 * Nothing else in the supervisor sets a timer, so that tests control time in
 * one place: the clock.
 *
 * A process may be stopped and a machine may sleep. After that, what the daemon
 * knows is old. So what is due then waits until the runtimes were asked and the
 * records that agents left meanwhile could be read.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { isolated } from "../../platform/isolated.ts";

export interface Scheduler {
  /** After `ms`, instead of what was asked for before. */
  after(sessionId: string | null, purpose: string, ms: number, act: () => void): void;
  /** Within `ms`, or sooner if that was asked for before. */
  atMost(sessionId: string | null, purpose: string, ms: number, act: () => void): void;
  cancel(sessionId: string | null, purpose: string): void;
  /** When (monotonic) it last turned out that the daemon was held up or the clock was set: what was seen before is old. */
  lastGapAt(): number;
  /** Nothing that was asked for happens any more, and nothing can be asked for. */
  close(): void;
}

/** No load delays a timer, and no correction moves the wall clock, by so much: the daemon was held up, or the clock set. */
const GAP_MS = 5_000;
/** Hooks and transcripts that were written during a gap are read within so long. */
const CATCH_UP_MS = 1_000;
/** A runtime that does not answer is not waited for any longer: it is unreachable, and the observer says so. */
const LONGEST_LOOK_MS = 5_000;

interface Planned {
  readonly dueAt: number;
  readonly stop: () => void;
}

export function createScheduler(parts: {
  readonly clock: Clock;
  readonly log: Log;
  /** Asks the runtimes what is there; resolves when the answers are committed. */
  readonly observe: () => Promise<void>;
}): Scheduler {
  const { clock, log } = parts;
  const planned = new Map<string, Planned>();
  let isClosed = false;
  /** The wall clock against the monotonic one, when last read. */
  let offset = offsetOf(clock);
  let gapAt = Number.NEGATIVE_INFINITY;
  /** Until it resolves, what is due waits. */
  let observing: Promise<void> | null = null;

  function plan(sessionId: string | null, purpose: string, ms: number, act: () => void): void {
    const key = keyOf(sessionId, purpose);
    planned.get(key)?.stop();
    if (isClosed) return;
    const dueAt = clock.monotonic() + ms;
    const entry: Planned = {
      dueAt,
      stop: clock.after(ms, () => {
        noticeGap(clock.monotonic() - dueAt);
        const perform = (): void => {
          if (planned.get(key) !== entry) return;
          planned.delete(key);
          isolated(log, "what was due", { session: sessionId, purpose }, act);
        };
        if (observing === null) perform();
        else void observing.then(perform);
      }),
    };
    planned.set(key, entry);
  }

  function noticeGap(lateMs: number): void {
    const jumpMs = offsetOf(clock) - offset;
    offset += jumpMs;
    if (lateMs < GAP_MS && Math.abs(jumpMs) < GAP_MS) return;
    gapAt = clock.monotonic();
    if (observing !== null) return;
    log("the machine slept or the daemon was stopped: looking at everything before doing anything", {
      late_ms: Math.round(lateMs),
      wall_clock_jump_ms: Math.round(jumpMs),
    });
    observing = observe().finally(() => (observing = null));
  }

  async function observe(): Promise<void> {
    const look = parts.observe().catch((error: unknown) => log("looking at everything failed", { why: error }));
    await Promise.all([Promise.race([look, pause(LONGEST_LOOK_MS)]), pause(CATCH_UP_MS)]);
  }

  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

  return {
    after: plan,
    atMost(sessionId, purpose, ms, act) {
      const known = planned.get(keyOf(sessionId, purpose));
      if (known === undefined || known.dueAt > clock.monotonic() + ms) plan(sessionId, purpose, ms, act);
    },
    cancel(sessionId, purpose) {
      const key = keyOf(sessionId, purpose);
      planned.get(key)?.stop();
      planned.delete(key);
    },
    lastGapAt: () => gapAt,
    close() {
      isClosed = true;
      for (const { stop } of planned.values()) stop();
      planned.clear();
    },
  };
}

function keyOf(sessionId: string | null, purpose: string): string {
  return `${purpose} ${sessionId ?? ""}`;
}

function offsetOf(clock: Clock): number {
  return clock.now() - clock.monotonic();
}
