/**
 * Starts dead sessions again when their pause is over, at a bounded pace over
 * the whole home: after a loss of all sessions the machine and the vendors see
 * a stream of starts instead of a flood, and the daemon has time for requests.
 * First due, first started. What waits is in the records, so nothing is lost
 * with the daemon.
 */
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { untilDueMs } from "../session/restart-policy.ts";
import type { Session } from "../session/session.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Scheduler } from "./ledger/scheduler.ts";

export interface Restarts {
  /** Plans what its record says, or takes it back. */
  attend(session: Session): void;
}

/** Two cores start an agent in about 200 ms: more at a time would only make all of them slow. */
export const MOST_AT_ONCE = 5;
export const STARTS_PER_SECOND = 4;
/** Whoever waits for less need not be told. */
const WORTH_TELLING_MS = 2_000;
/** A commit fails while the disk is full, say. */
const RETRY_MS = 10_000;

export function createRestarts(parts: {
  readonly ledger: Pick<Ledger, "apply">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
}): Restarts {
  const { ledger, clock, scheduler, log } = parts;
  const pace = createPace(clock);
  /** Due, in the order in which they became so. */
  const waiting = new Set<string>();
  let isStarting = false;

  function attend(session: Session): void {
    const { id, wish, process } = session;
    const waitMs = wish.stop === null ? untilDueMs(process.restart, clock.moment()) : null;
    if (waitMs === null) {
      scheduler.cancel(id, "restart");
      waiting.delete(id);
    } else if (!waiting.has(id)) {
      scheduler.after(id, "restart", waitMs, () => enqueue(id));
    }
  }

  function enqueue(id: string): void {
    const waitMs = pace.untilTurn(waiting.size);
    waiting.add(id);
    if (waitMs >= WORTH_TELLING_MS)
      ledger.apply(id, { type: "restart-postponed", waitMs }).catch(report("saying that a restart waits"));
    startWaiting().catch(report("starting sessions again"));
  }

  /** One commit after the other: what is counted is what was really started. */
  async function startWaiting(): Promise<void> {
    if (isStarting) return;
    isStarting = true;
    try {
      for (const id of waiting) {
        const pauseMs = pace.untilTurn(0);
        if (pauseMs > 0) {
          const goOn = (): void => void startWaiting().catch(report("starting sessions again"));
          return scheduler.after(null, "restart pace", pauseMs, goOn);
        }
        pace.take();
        waiting.delete(id);
        await start(id);
      }
    } finally {
      isStarting = false;
    }
  }

  async function start(id: string): Promise<void> {
    try {
      await ledger.apply(id, { type: "restart-due" });
    } catch (error) {
      report("starting a session again")(error);
      scheduler.after(id, "restart", RETRY_MS, () => enqueue(id));
    }
  }

  function report(what: string): (error: unknown) => void {
    return (error) => log(`${what} failed`, { why: error });
  }

  return { attend };
}

/** A bucket of starts that fills with time, on the monotonic clock. */
function createPace(clock: Clock) {
  let left = MOST_AT_ONCE;
  let filledAt = clock.monotonic();

  function fill(): void {
    const now = clock.monotonic();
    left = Math.min(MOST_AT_ONCE, left + ((now - filledAt) / 1_000) * STARTS_PER_SECOND);
    filledAt = now;
  }

  return {
    take(): void {
      fill();
      left -= 1;
    },
    /** For one that so many others come before. */
    untilTurn(ahead: number): number {
      fill();
      return Math.max(0, Math.ceil(((ahead + 1 - left) / STARTS_PER_SECOND) * 1_000));
    },
  };
}
