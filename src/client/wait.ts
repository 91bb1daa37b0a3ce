/**
 * Waiting that outlives the daemon. First it is asked, without waiting, what
 * stands already and where the log is; from that cursor on everything is in
 * the log, so the long question can break and be asked again any number of
 * times without missing what happened in between.
 */
import { systemClock } from "../platform/clock.ts";
import { call } from "./call.ts";
import type { CallOptions } from "./call.ts";
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

export async function waitForSession(link: Link, input: WaitInput, options: CallOptions = {}): Promise<Answer> {
  const limitMs = (input.timeout_seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const deadline = systemClock.monotonic() + limitMs;
  const first = await call(link, "waitForSession", { ...input, timeout_seconds: 0 }, options);
  if (first.done || limitMs === 0) return first;
  const woken = new Map(first.woken.map((wake) => [wake.session_id, wake]));
  const pending = await stillAsleep(link, input, first, options);
  const since = input.since ?? first.cursor;
  for (;;) {
    const leftSeconds = Math.max(0, (deadline - systemClock.monotonic()) / 1_000);
    const question = { ...input, ...pending, since, timeout_seconds: Math.min(leftSeconds, LONGEST_QUESTION_SECONDS) };
    try {
      const answer = await call(link, "waitForSession", question, { ...options, isOnce: true, revival: "after-crash" });
      for (const wake of answer.woken) woken.set(wake.session_id, wake);
      if (answer.done || systemClock.monotonic() >= deadline) return { ...answer, woken: [...woken.values()] };
    } catch (error) {
      if (!isOutage(error) || systemClock.monotonic() >= deadline) throw error;
      await systemClock.sleep(PAUSE_MS, options.signal);
    }
  }
}

/** When all are waited for, those that woke at once are not asked about again: the log holds no later word of them. */
async function stillAsleep(
  link: Link,
  input: WaitInput,
  first: Answer,
  options: CallOptions,
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
