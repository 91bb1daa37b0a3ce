/**
 * Waiting that outlives the daemon. First it is asked, without waiting, what
 * stands already and where the log is; from that cursor on everything is in
 * the log, so the long question can break and be asked again any number of
 * times without missing what happened in between.
 */
import { systemClock } from "../platform/clock.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { call } from "./call.ts";
import type { CallOptions, CallRules } from "./call.ts";
import type { Link } from "./link.ts";
import type { InputOf, OutputOf } from "./operation-types.ts";
import { isOutage } from "./endurance.ts";

export type WaitInput = Omit<InputOf<"waitForSession">, "timeout_seconds"> & {
  /** Without one it waits for as long as it takes. */
  readonly timeout_seconds?: number;
};
type Answer = OutputOf<"waitForSession">;

/** What the daemon allows for one question; a longer wait is several. */
const LONGEST_QUESTION_SECONDS = 3_600;
const PAUSE_MS = 200;
/** How long beyond what was asked for an answer may take, before it is asked for again; within one's own deadline. */
const LONGEST_PATIENCE_MS = 60_000;
const LEAST_PATIENCE_MS = 5_000;

export async function waitForSession(link: Link, input: WaitInput, options: CallOptions = {}): Promise<Answer> {
  const limitMs = (input.timeout_seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const deadline = systemClock.monotonic() + limitMs;
  const rulesFor = (seconds: number): CallRules => {
    const left = Math.max(LEAST_PATIENCE_MS, deadline - systemClock.monotonic());
    return { ...options, outlastsSilence: true, patienceMs: seconds * 1_000 + Math.min(left, LONGEST_PATIENCE_MS) };
  };
  const first = await askFirst(link, input, () => rulesFor(0), deadline);
  if (first.done || limitMs === 0) return first;
  const woken = new Map(first.woken.map((wake) => [wake.session_id, wake]));
  const pending = await stillAsleep(link, input, first, rulesFor(0));
  const since = input.since ?? first.cursor;
  for (;;) {
    const leftSeconds = Math.max(0, (deadline - systemClock.monotonic()) / 1_000);
    const seconds = Math.min(leftSeconds, LONGEST_QUESTION_SECONDS);
    const question = { ...input, ...pending, since, timeout_seconds: seconds };
    try {
      const rules: CallRules = { ...rulesFor(seconds), isOnce: true, revival: "after-crash" };
      const answer = await call(link, "waitForSession", question, rules);
      for (const wake of answer.woken) woken.set(wake.session_id, wake);
      if (answer.done || systemClock.monotonic() >= deadline) return { ...answer, woken: [...woken.values()] };
    } catch (error) {
      if (!isOutage(error) || systemClock.monotonic() >= deadline) throw error;
      await systemClock.sleep(PAUSE_MS, options.signal);
    }
  }
}

/** A daemon that cannot be started is an error like any other's; one that is there and silent is waited for. */
async function askFirst(link: Link, input: WaitInput, rules: () => CallRules, deadline: number): Promise<Answer> {
  for (;;) {
    try {
      return await call(link, "waitForSession", { ...input, timeout_seconds: 0 }, rules());
    } catch (error) {
      const isSilent = error instanceof ReeveError && error.code === "daemon-silent";
      if (!isSilent || systemClock.monotonic() >= deadline) throw error;
    }
  }
}

/** When all are waited for, those that woke at once are not asked about again: the log holds no later word of them. */
async function stillAsleep(
  link: Link,
  input: WaitInput,
  first: Answer,
  options: CallRules,
): Promise<Pick<WaitInput, "session" | "also">> {
  const references = [input.session, ...(input.also ?? [])];
  if (first.woken.length === 0) return { session: input.session, also: input.also ?? [] };
  const ids = await Promise.all(
    references.map(async (session) => (await call(link, "getSession", { session }, options)).session_id),
  );
  const awake = new Set(first.woken.map((wake) => wake.session_id));
  const [session = input.session, ...also] = ids.filter((id) => !awake.has(id));
  return { session, also };
}
