/**
 * `reeve work run`: asks what can be done about the queue, does it, and asks
 * again; where nothing can be done, it waits for the next event of the log. All
 * decisions are in the answers. It remembers nothing that matters: killed
 * anywhere and run again it goes on where the records are.
 *
 * Steps are done one after another where order matters: an item is given out only
 * if nothing else was to be done, because what is done may make a more important
 * item ready. Verifications and the ends of workers take long and run beside it.
 */
import type { Client } from "../../../client/create-client.ts";
import type { EventView } from "../../../client/operation-types.ts";
import { systemClock } from "../../../platform/clock.ts";
import { carryOut, givesOut, isLong, keyOf, type Plan, type RunOptions, type Step } from "./carry-out.ts";
import { followNews } from "./news.ts";
import { createTroubles, type Trouble } from "./trouble.ts";

export interface Progress {
  /** What it looks like now, and which long steps are under way. */
  shows(plan: Plan, long: readonly Step[]): void;
  happened(event: EventView): void;
  troubled(trouble: Trouble): void;
}

export interface RunOutcome {
  /** done: nothing is open. stuck: nothing can be done without a person. interrupted: Ctrl-C. */
  readonly ended: "done" | "stuck" | "interrupted";
  readonly plan: Plan;
  readonly troubles: readonly Trouble[];
}

/** The answer also changes with time alone: what was not heard of for long is stale. */
const LOOK_AGAIN_MS = 30_000;

export async function runWork(parts: {
  readonly client: Client;
  readonly options: RunOptions;
  readonly progress: Progress;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}): Promise<RunOutcome> {
  const { client, options, progress, signal } = parts;
  const over = new AbortController();
  const troubles = createTroubles(systemClock);
  const inHand = new Map<string, Step>();
  let failure: unknown = null;

  const ask = (): Promise<Plan> =>
    client.planWork(
      {
        cwd: options.cwd,
        reuse: options.reuse,
        environment: options.environment,
        except: [...troubles.excepted()],
        ...(options.agent === undefined ? {} : { agent: options.agent }),
        ...(options.verify === undefined ? {} : { verify: [...options.verify] }),
        ...(options.mostWorkers === undefined ? {} : { most_workers: options.mostWorkers }),
      },
      { idempotencyKey: crypto.randomUUID() },
    );

  let plan = await ask();
  const news = followNews(client, plan.cursor, progress.happened, over.signal);
  signal.addEventListener("abort", news.wake);

  async function attempt(step: Step): Promise<void> {
    const seconds = plan.verify_timeout_seconds;
    const verifyTimeoutMs = options.verifyTimeoutMs ?? seconds * 1_000;
    try {
      await carryOut(step, { client, options, verifyTimeoutMs, signal: over.signal });
      troubles.settle(step);
    } catch (error) {
      const trouble = troubles.note(step, error);
      if (trouble !== null) progress.troubled(trouble);
    }
  }

  /** Goes on beside the others. */
  function begin(step: Step): void {
    inHand.set(keyOf(step), step);
    attempt(step)
      .catch((error: unknown) => (failure = error))
      .finally(() => {
        inHand.delete(keyOf(step));
        news.wake();
      });
  }

  /** False: there was nothing to do. */
  async function doAll(steps: readonly Step[]): Promise<boolean> {
    const todo = steps.filter((step) => !inHand.has(keyOf(step)) && !troubles.isWaiting(step));
    const long = todo.filter(isLong);
    long.forEach(begin);
    const short = todo.filter((step) => !isLong(step));
    const first = short.filter((step) => !givesOut(step));
    await Promise.all(first.map(attempt));
    if (first.length > 0) return true;
    for (const step of short) if (!signal.aborted) await attempt(step);
    return short.length > 0;
  }

  try {
    for (;;) {
      troubles.prune(plan.steps);
      progress.shows(plan, [...inHand.values()]);
      if (signal.aborted) return { ended: "interrupted", plan, troubles: troubles.lasting() };
      const hasDone = await doAll(plan.steps);
      if (failure !== null) throw failure;
      if (!hasDone) {
        const lasting = troubles.lasting();
        if (!options.watch && inHand.size === 0 && !troubles.mayPass() && isOver(plan, lasting))
          return { ended: plan.open === 0 ? "done" : "stuck", plan, troubles: lasting };
        const again = troubles.nextMs((key) => inHand.has(key)) ?? LOOK_AGAIN_MS;
        await news.next(Math.min(LOOK_AGAIN_MS, again, untilReset(plan)));
      }
      if (!signal.aborted) plan = await ask();
    }
  } finally {
    signal.removeEventListener("abort", news.wake);
    over.abort();
  }
}

/** Nobody is at work, and nothing will happen by itself. */
function isOver({ steps, held, workers }: Plan, lasting: readonly Trouble[]): boolean {
  if (held.some((one) => one.goes_on)) return false;
  if (workers.some(({ work_id: work }) => work !== null)) return false;
  return steps.every((step) => lasting.some(({ key }) => key === keyOf(step)));
}

function untilReset({ held }: Plan): number {
  const resets = held.flatMap(({ until }) => (until === null ? [] : [Date.parse(until) - Date.now()]));
  return Math.max(1_000, Math.min(...resets, LOOK_AGAIN_MS));
}
