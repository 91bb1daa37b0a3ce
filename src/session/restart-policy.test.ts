import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Moment } from "../platform/clock.ts";
import type { FailureKind } from "./failure.ts";
import {
  afterDeath,
  attemptOf,
  crashLoopOf,
  decideRestart,
  dueIn,
  GOOD_RUN_MS,
  LONGEST_DELAY_MS,
  MOST_RESTARTS,
  untilDueMs,
  WINDOW_MS,
  withRestart,
} from "./restart-policy.ts";
import { type DeathCause, NO_RESTARTS, type RestartPolicy, type RestartRecord } from "./restart-record.ts";
import { plannedSession } from "./session-fixture.ts";
import type { Exit } from "./session.ts";

const failed: Exit = { code: 1, signal: null, at: 0 };
const clean: Exit = { code: 0, signal: null, at: 0 };
const killed: Exit = { code: null, signal: "SIGSEGV", at: 0 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const at = (upMs: number, wall = upMs): Moment => ({ at: 1_000_000_000 + wall, boot: "one", upMs });

function decide(record: RestartRecord, changes: Partial<Parameters<typeof decideRestart>[0]> = {}) {
  const asked = { policy: "always", exit: failed, failures: [], record, now: at(0), random: 0 } as const;
  return decideRestart({ ...asked, ...changes });
}

/** A life after another until it is given up or `mostLives` were lived: when it was started again, in true time. */
function live(
  lives: readonly { readonly ms: number; readonly jumpMs?: number; readonly cause?: DeathCause }[],
  exit: Exit = failed,
  random = 0.5,
): { readonly starts: readonly number[]; readonly isGivenUp: boolean; readonly record: RestartRecord } {
  const starts: number[] = [];
  let [now, offset] = [0, 0];
  let record: RestartRecord = { ...NO_RESTARTS, running: at(0) };
  for (const { ms, jumpMs = 0, cause = "own" } of lives) {
    now += ms;
    offset += jumpMs;
    record = afterDeath(record, cause, at(now, now + offset));
    const decision = decide(record, { exit, random, now: at(now, now + offset) });
    if (!decision.restart) return { starts, isGivenUp: true, record };
    record = dueIn(record, decision.delayMs, at(now, now + offset));
    offset -= jumpMs / 2;
    // Whatever the wall clock says, the timer runs for as long as was decided.
    const waitMs = untilDueMs(record, at(now, now + offset)) ?? Number.NaN;
    expect(waitMs).toBe(decision.delayMs);
    now += waitMs;
    starts.push(now);
    record = { ...withRestart(record, at(now, now + offset)), dueAt: null, running: at(now, now + offset) };
  }
  return { starts, isGivenUp: false, record };
}

const repeated = (ms: number, count = 1_000) => Array.from({ length: count }, () => ({ ms }));
const mostWithin = (starts: readonly number[], windowMs: number): number =>
  Math.max(0, ...starts.map((start) => starts.filter((other) => other >= start && other < start + windowMs).length));

describe("whether it is started again", () => {
  test.each<[RestartPolicy, Exit, boolean]>([
    ["never", failed, false],
    ["never", clean, false],
    ["on-failure", failed, true],
    ["on-failure", clean, false],
    ["on-failure", { code: null, signal: null, at: 0 }, true],
    ["always", clean, true],
    ["always", killed, true],
  ])("%s after %o: %s", (policy, exit, expected) => {
    expect(decide(NO_RESTARTS, { policy, exit }).restart).toBe(expected);
  });

  test.each<[readonly FailureKind[], FailureKind | null]>([
    [["crash"], null],
    [["killed", "network"], null],
    [["start-failed"], "start-failed"],
    [["crash", "not-logged-in"], "not-logged-in"],
    [["crash", "billing"], "billing"],
  ])("after %o what would fail the same way is not tried: %s", (failures, failure) => {
    expect(decide(NO_RESTARTS, { failures })).toMatchObject(
      failure === null ? { restart: true } : { restart: false, why: "futile", failure },
    );
  });

  test("the pause doubles from 1 s to 300 s, less up to half of it", () => {
    let record: RestartRecord = NO_RESTARTS;
    const delays = Array.from({ length: MOST_RESTARTS }, () => {
      const decision = decide(record);
      record = withRestart(record, at(0));
      return decision.restart ? decision.delayMs : -1;
    });
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, LONGEST_DELAY_MS / 2]);
    expect(decide(NO_RESTARTS, { random: 0.999_999 })).toMatchObject({ delayMs: 1_000 });
  });

  test("ten good minutes make the next pause short again; they do not make the restarts before uncounted", () => {
    const { record } = live([...repeated(0, 5), { ms: GOOD_RUN_MS }]);
    expect(record.recent.map(({ isOvercome }) => isOvercome)).toEqual([true, true, true, true, true, false]);
    const { record: early } = live([...repeated(0, 5), { ms: GOOD_RUN_MS - 1 }]);
    expect(early.recent.some(({ isOvercome }) => isOvercome)).toBe(false);
    expect(decide(record, { now: at(20 * MINUTE_MS) })).toMatchObject({ delayMs: 1_000 });
    expect(attemptOf(record, at(20 * MINUTE_MS))).toBe("attempt 7 of 10");
  });

  test.each<[string, Exit]>([
    ["exit 0", clean],
    ["exit 1", failed],
    ["a signal", killed],
  ])("a loop with %s is given up after ten restarts, in a quarter of an hour", (_, exit) => {
    const { starts, isGivenUp } = live(repeated(0), exit, 0.999);
    expect([starts.length, isGivenUp]).toEqual([MOST_RESTARTS, true]);
    expect(starts.at(-1)).toBeLessThan(15 * MINUTE_MS);
  });

  test("one that dies just after each good run is given up as well", () => {
    const { starts, isGivenUp } = live(repeated(GOOD_RUN_MS + 1_000));
    expect([starts.length, isGivenUp, mostWithin(starts, HOUR_MS)]).toEqual([MOST_RESTARTS, true, 6]);
  });

  test("one that runs a quarter of an hour at a time goes on", () => {
    expect(live(repeated(15 * MINUTE_MS)).isGivenUp).toBe(false);
  });

  test("what died with everything else does not count against it, and is bounded by itself", () => {
    const shared = { ms: MINUTE_MS, cause: "shared" } as const;
    const { record } = live([shared, shared, shared]);
    expect(decide({ ...record, cause: "own" }, { now: at(5 * MINUTE_MS) })).toMatchObject({ delayMs: 500 });
    expect(attemptOf(record, at(5 * MINUTE_MS))).toBe("attempt 4 of 10");
    expect(live(Array.from({ length: 50 }, () => shared))).toMatchObject({ isGivenUp: true });
  });

  test("in any window the restarts are bounded, whatever the lives, exits and clock jumps", () => {
    const anyLife = fc.record({
      ms: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 2 * GOOD_RUN_MS })),
      jumpMs: fc.constantFrom(0, 0, 2 * HOUR_MS, -2 * HOUR_MS),
    });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.array(anyLife, { maxLength: 100 }), fc.constantFrom(clean, failed, killed), random, (...args) => {
        const { starts } = live(...args);
        expect(mostWithin(starts, WINDOW_MS)).toBeLessThanOrEqual(MOST_RESTARTS);
      }),
      { numRuns: 300 },
    );
  });

  test("jumps of the wall clock change no decision", () => {
    const lives = [...repeated(3_000, 4), { ms: GOOD_RUN_MS + 5 }, ...repeated(100, 20)];
    const jumps = [2, -2, 2, 2, -2, -2, 2, -2, -2, 2].map((hours) => hours * HOUR_MS);
    const jumping = lives.map((life, index) => ({ ...life, jumpMs: jumps[index] ?? 0 }));
    expect(live(jumping).starts).toEqual(live(lives).starts);
  });
});

describe("after the machine was started again", () => {
  const record = withRestart(NO_RESTARTS, at(5 * HOUR_MS));

  test("restarts from before are as old as the wall clock says, and at least as old as this boot", () => {
    const attemptAfter = (wall: number, upMs: number) =>
      attemptOf(record, { at: 1_000_000_000 + wall, boot: "two", upMs });
    expect(attemptAfter(6 * HOUR_MS, MINUTE_MS)).toBe("attempt 2 of 10");
    expect(attemptAfter(8 * HOUR_MS, MINUTE_MS)).toBe("attempt 1 of 10");
    // A machine without a clock of its own: it counts on, but not for ever.
    expect(attemptAfter(-HOUR_MS, MINUTE_MS)).toBe("attempt 2 of 10");
    expect(attemptAfter(-HOUR_MS, WINDOW_MS)).toBe("attempt 1 of 10");
  });

  test("a pause goes on for what is left of it, and never for longer than the longest", () => {
    const due = dueIn(NO_RESTARTS, LONGEST_DELAY_MS, at(5 * HOUR_MS));
    const left = (wall: number) => untilDueMs(due, { at: 1_000_000_000 + wall, boot: "two", upMs: MINUTE_MS });
    expect(left(5 * HOUR_MS + 2 * MINUTE_MS)).toBe(3 * MINUTE_MS);
    expect(left(4 * HOUR_MS)).toBe(4 * MINUTE_MS);
    expect(left(9 * HOUR_MS)).toBe(0);
  });

  test("a pause that an earlier version planned has only the wall clock", () => {
    const planned = { ...NO_RESTARTS, dueAt: at(0).at + 9 * HOUR_MS };
    expect(untilDueMs(planned, at(0))).toBe(LONGEST_DELAY_MS);
    expect(untilDueMs(planned, at(9 * HOUR_MS - 1_000))).toBe(1_000);
    expect(untilDueMs(NO_RESTARTS, at(0))).toBeNull();
  });
});

test("a crash loop is told from single deaths, from one that runs, and ends with a good run", () => {
  const loop = (lives: Parameters<typeof live>[0], dueAt: number | null) => {
    const { record, starts } = live(lives);
    return {
      session: plannedSession({ process: { restart: { ...record, dueAt } } }),
      first: at(starts[0] ?? 0).at,
    };
  };
  expect(crashLoopOf(loop(repeated(100, 2), 5).session)).toBeNull();
  const four = loop(repeated(100, 4), 5);
  expect(crashLoopOf(four.session)).toEqual({ restarts: 4, sinceAt: four.first, isGivenUp: false });
  expect(crashLoopOf(loop(repeated(100, 4), null).session)).toBeNull();
  expect(crashLoopOf(loop([...repeated(100, 4), { ms: GOOD_RUN_MS }], 5).session)).toBeNull();
});
