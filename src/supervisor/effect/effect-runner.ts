/**
 * Carries out what the record says must be done next, one thing per session at
 * a time. The result goes to the ledger as an observation. A temporary failure
 * is tried again with backoff, as long as the record still asks for it.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Scheduler } from "../ledger/scheduler.ts";

export interface Task {
  /** Equal keys mean: the same thing is still to be done. */
  readonly key: string;
  /** For failpoints and the log. */
  readonly kind: string;
  /** How long it may give others to end by themselves; only something less patient hurries it. */
  readonly patienceMs?: number;
  /** `hurry` fires when the same is now asked for with less patience. */
  perform(hurry: AbortSignal): Promise<void>;
}

export interface EffectRunner {
  /** Look again at what this session needs; cheap when nothing changed. */
  poke(sessionId: string): void;
  /** Starts nothing new and waits a moment for what is under way; the rest is resumed by the next daemon. */
  close(): Promise<void>;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;
/** Enough for a message that is being typed; a session in its grace period is left to it. */
const LAST_MOMENT_MS = 2_000;

interface Running {
  readonly task: Task;
  readonly hurry: AbortController;
  readonly done: Promise<void>;
}

export function createEffectRunner(parts: {
  readonly nextTask: (sessionId: string) => Task | null;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** From 0 to 1, for the time of a retry. */
  readonly random?: () => number;
}): EffectRunner {
  const running = new Map<string, Running>();
  /** The key of what is tried again later, per session. */
  const retries = new Map<string, string>();
  const { random = Math.random } = parts;
  let isClosed = false;

  /** What cannot even be told is a task that fails: it is logged, and tried again like any other. */
  function nextTask(sessionId: string): Task | null {
    try {
      return parts.nextTask(sessionId);
    } catch (error) {
      const perform = async (): Promise<void> => {
        throw error;
      };
      return { key: "decide", kind: "decide", perform };
    }
  }

  function poke(sessionId: string): void {
    if (isClosed) return;
    const task = nextTask(sessionId);
    const current = running.get(sessionId);
    if (current !== undefined) {
      if (isLessPatient(task, current.task)) current.hurry.abort(new Error("a shorter grace period was asked for"));
      return;
    }
    if (task !== null && retries.get(sessionId) === task.key) return;
    parts.scheduler.cancel(sessionId, "retry");
    retries.delete(sessionId);
    if (task !== null) start(sessionId, task, 0);
  }

  function start(sessionId: string, task: Task, attempt: number): void {
    const hurry = new AbortController();
    const done = run(sessionId, task, attempt, hurry.signal);
    running.set(sessionId, { task, hurry, done });
  }

  async function run(sessionId: string, task: Task, attempt: number, hurry: AbortSignal): Promise<void> {
    let failure: unknown;
    try {
      failpoint(`${task.kind}.before-effect`);
      await task.perform(hurry);
      failpoint(`${task.kind}.after-fact`);
    } catch (error) {
      failure = error;
    }
    running.delete(sessionId);
    if (isClosed) return;
    const next = nextTask(sessionId);
    // Done, or overtaken by another wish. The same task again without an error would spin: it waits as well.
    if (next?.key !== task.key) return poke(sessionId);
    if (failure !== undefined)
      parts.log("an action on a session failed, trying again", {
        session: sessionId,
        effect: task.kind,
        attempt,
        why: messageOf(failure),
      });
    waitAndRetry(sessionId, task, attempt + 1);
  }

  function waitAndRetry(sessionId: string, task: Task, attempt: number): void {
    retries.set(sessionId, task.key);
    const pause = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 10));
    // What failed for many at once, because something did not answer, is not tried for all at once again.
    const delay = pause * (1 + random() / 2);
    parts.scheduler.after(sessionId, "retry", delay, () => {
      retries.delete(sessionId);
      const next = nextTask(sessionId);
      if (isClosed || running.has(sessionId)) return;
      if (next?.key === task.key) start(sessionId, next, attempt);
      else poke(sessionId);
    });
  }

  return {
    poke,
    async close() {
      isClosed = true;
      for (const sessionId of retries.keys()) parts.scheduler.cancel(sessionId, "retry");
      const done = Promise.all([...running.values()].map((current) => current.done));
      await Promise.race([done, parts.clock.sleep(LAST_MOMENT_MS)]);
    },
  };
}

function isLessPatient(next: Task | null, current: Task): boolean {
  return next?.patienceMs !== undefined && current.patienceMs !== undefined && next.patienceMs < current.patienceMs;
}
