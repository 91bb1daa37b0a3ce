/**
 * Steps that could not be done. What another changed meanwhile is asked for again
 * soon; anything else after a growing pause, and a person is told.
 */
import { isOutage } from "../../../client/endurance.ts";
import type { Clock } from "../../../platform/clock.ts";
import { messageOf, ReeveError } from "../../../platform/reeve-error.ts";
import type { Step } from "./carry-out.ts";
import { keyOf } from "./carry-out.ts";

export interface Trouble {
  readonly key: string;
  readonly workId: string | null;
  readonly title: string | null;
  readonly text: string;
  readonly tries: number;
  /** Monotonic. */
  readonly until: number;
}

export interface Troubles {
  /** Returns it when a person should be told: the first time. Throws where nothing will help. */
  note(step: Step, error: unknown): Trouble | null;
  isWaiting(step: Step): boolean;
  /** Items that cannot be begun now. */
  excepted(): readonly string[];
  /** Those that did not go away. */
  lasting(): readonly Trouble[];
  /** Until the first of them may be tried again, of those that are not being tried; null: there are none. */
  nextMs(isTried?: (key: string) => boolean): number | null;
  settle(step: Step): void;
  /** Forgets what is not to be done any more. */
  prune(steps: readonly Step[]): void;
  /** Something will be tried again that may work then. */
  mayPass(): boolean;
}

/** Another run was first, or the worker just took something else. */
const SOON_MS = 200;
const FIRST_MS = 2_000;
const MOST_MS = 60_000;
/** After so many tries it is no passing trouble. */
const LASTING_TRIES = 2;

export function createTroubles(clock: Pick<Clock, "monotonic">): Troubles {
  const all = new Map<string, Trouble>();
  const isDue = ({ until }: Trouble): boolean => until <= clock.monotonic();
  return {
    note(step, error) {
      // Without the daemon nothing can be done.
      if (isOutage(error)) throw error;
      const key = keyOf(step);
      const tries = (all.get(key)?.tries ?? 0) + 1;
      const isRace = error instanceof ReeveError && RACES.has(error.code);
      const pause = isRace ? SOON_MS : Math.min(FIRST_MS * 2 ** (tries - 1), MOST_MS);
      const { work_id: workId, title } = step;
      const trouble = { key, workId, title, text: messageOf(error), tries, until: clock.monotonic() + pause };
      all.set(key, isRace ? { ...trouble, tries: 0 } : trouble);
      return isRace || tries > 1 ? null : trouble;
    },
    isWaiting(step) {
      const found = all.get(keyOf(step));
      return found !== undefined && !isDue(found);
    },
    excepted: () =>
      [...all.values()].flatMap((one) =>
        one.workId !== null && one.key.startsWith("run.dispatch.") && !isDue(one) ? [one.workId] : [],
      ),
    lasting: () => [...all.values()].filter(({ tries }) => tries >= LASTING_TRIES),
    nextMs(isTried = () => false) {
      const waits = [...all.values()].flatMap(({ key, until }) => (isTried(key) ? [] : [until - clock.monotonic()]));
      return waits.length === 0 ? null : Math.max(0, Math.min(...waits));
    },
    settle: (step) => void all.delete(keyOf(step)),
    prune(steps) {
      const wanted = new Set(steps.map(keyOf));
      for (const one of all.values()) if (isDue(one) && !wanted.has(one.key)) all.delete(one.key);
    },
    mayPass: () => [...all.values()].some(({ tries }) => tries < LASTING_TRIES),
  };
}

const RACES: ReadonlySet<string> = new Set([
  "work-changed",
  "wrong-work-state",
  "worker-busy",
  "too-many-workers",
  "idempotency-conflict",
  "dependencies-open",
]);
