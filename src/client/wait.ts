/**
 * Waits for a session, also across restarts of the daemon. It first asks,
 * without waiting, for the present state and a cursor. From then on everything
 * is in the log, so a broken wait can be repeated from the cursor without
 * missing an event.
 */
import { systemClock } from "../platform/clock.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { call } from "./call.ts";
import type { CallOptions, CallRules } from "./call.ts";
import type { Link } from "./request.ts";
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
  if (isDecided(first) || limitMs === 0) return first;
  const about = await referencesOf(link, input, first, rulesFor(0));
  const [session, ...also] = about.asleep;
  // One session: about the same ask, whatever is asked later. Several have an ask each, and find it again by themselves.
  const since = input.since ?? (about.isOne ? first.cursor : undefined);
  for (;;) {
    const leftSeconds = Math.max(0, (deadline - systemClock.monotonic()) / 1_000);
    const seconds = Math.min(leftSeconds, LONGEST_QUESTION_SECONDS);
    const { role: _, session: __, ...same } = input;
    const question = {
      ...same,
      ...(session === undefined ? {} : { session }),
      also,
      ...(since === undefined ? {} : { since }),
      timeout_seconds: seconds,
    };
    try {
      const rules: CallRules = { ...rulesFor(seconds), isOnce: true, revival: "after-crash" };
      const answer = await call(link, "waitForSession", question, rules);
      if (isDecided(answer) || systemClock.monotonic() >= deadline) return together(input, first, answer);
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

function isDecided({ reason }: Answer): boolean {
  return reason !== "timeout";
}

/**
 * Who is asked about from now on. Who was waited for without being named is decided by the first answer. When all are
 * waited for, those that woke at once are not asked about again: a question may be answered meanwhile.
 */
async function referencesOf(
  link: Link,
  input: WaitInput,
  first: Answer,
  options: CallRules,
): Promise<{ readonly asleep: readonly string[]; readonly isOne: boolean }> {
  const awake = awakeAtOnce(input, first);
  const without = (ids: readonly string[]): readonly string[] =>
    [...new Set(ids)].filter((id) => awake.every((wake) => wake.session_id !== id));
  const references = [...(input.session === undefined ? [] : [input.session]), ...(input.also ?? [])];
  if (references.length === 0) {
    const ids = [...first.woken.map(({ session_id: id }) => id), ...first.asleep];
    return { asleep: without(ids), isOne: ids.length === 1 };
  }
  const isOne = references.length === 1;
  if (awake.length === 0) return { asleep: references, isOne };
  const ids = references.map(async (session) => (await call(link, "getSession", { session }, options)).session_id);
  return { asleep: without(await Promise.all(ids)), isOne };
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
