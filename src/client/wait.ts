/**
 * Waiting that outlives the daemon. First it is asked, without waiting, what
 * stands already and from where to go on; everything else is in the log, so
 * the long question can break and be asked again any number of times without
 * missing what happened in between.
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
  if (isDecided(first) || limitMs === 0) return first;
  const { session, also } = await stillAsleep(link, input, first, options);
  // One session: about the same ask, whatever is asked later. Several have an ask each, and find it again by themselves.
  const isOne = (input.also ?? []).length === 0;
  const since = input.since ?? (isOne ? first.cursor : undefined);
  for (;;) {
    const leftSeconds = Math.max(0, (deadline - systemClock.monotonic()) / 1_000);
    const question = {
      ...input,
      session,
      also,
      ...(since === undefined ? {} : { since }),
      timeout_seconds: Math.min(leftSeconds, LONGEST_QUESTION_SECONDS),
    };
    try {
      const answer = await call(link, "waitForSession", question, { ...options, isOnce: true, revival: "after-crash" });
      if (isDecided(answer) || systemClock.monotonic() >= deadline) return together(input, first, answer);
    } catch (error) {
      if (!isOutage(error) || systemClock.monotonic() >= deadline) throw error;
      await systemClock.sleep(PAUSE_MS, options.signal);
    }
  }
}

function isDecided({ reason }: Answer): boolean {
  return reason !== "timeout";
}

/** When all are waited for, those that woke at once are not asked about again: a question may be answered meanwhile. */
async function stillAsleep(
  link: Link,
  input: WaitInput,
  first: Answer,
  options: CallOptions,
): Promise<{ readonly session: string; readonly also: string[] }> {
  const references = [input.session, ...(input.also ?? [])];
  const awake = awakeAtOnce(input, first);
  if (awake.length === 0) return { session: input.session, also: references.slice(1) };
  const ids = await Promise.all(
    references.map(async (session) => (await call(link, "getSession", { session }, options)).session_id),
  );
  const asleep = [...new Set(ids)].filter((id) => awake.every((wake) => wake.session_id !== id));
  const [session = input.session, ...also] = asleep;
  return { session, also };
}

/** What came instead, or nothing: that may still change, and the daemon looks again. */
function awakeAtOnce({ mode, for: wanted = [] }: WaitInput, { woken }: Answer): Answer["woken"] {
  if (mode !== "all") return [];
  return woken.filter(
    ({ reason }) => reason !== "nothing-to-wait-for" && (wanted.length === 0 || wanted.some((wish) => wish === reason)),
  );
}

/** Those that woke at once came first. */
function together(input: WaitInput, first: Answer, answer: Answer): Answer {
  const awake = awakeAtOnce(input, first);
  const bad = isDecided(answer) && answer.ok ? awake.find(({ ok }) => !ok) : undefined;
  return {
    ...answer,
    ok: answer.ok && bad === undefined,
    ...(bad === undefined ? {} : { reason: bad.reason }),
    woken: [...awake, ...answer.woken],
  };
}
