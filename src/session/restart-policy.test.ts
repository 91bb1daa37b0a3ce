import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { healthy, judge } from "./health.ts";
import { decideRestart, LONGEST_DELAY_MS, MOST_RESTARTS, recentRestarts, WINDOW_MS } from "./restart-policy.ts";

const failed = { code: 1, signal: null, at: 0 };
const clean = { code: 0, signal: null, at: 0 };
const none = { count: 0, recentAt: [], dueAt: null };

describe("whether it is started again", () => {
  test.each([
    ["never", failed, false],
    ["never", clean, false],
    ["on-failure", failed, true],
    ["on-failure", clean, false],
    ["on-failure", { code: null, signal: null, at: 0 }, true],
    ["always", clean, true],
  ] as const)("%s after %o: %s", (policy, exit, expected) => {
    expect(decideRestart({ policy, exit, record: none, now: 0, random: 0 }).restart).toBe(expected);
  });

  test("the pause doubles up to its limit, spread by half", () => {
    const delays = Array.from({ length: MOST_RESTARTS }, (_, index) => {
      const recentAt = Array.from({ length: index }, () => 0);
      const decision = decideRestart({
        policy: "always",
        exit: failed,
        record: { ...none, recentAt },
        now: 0,
        random: 0,
      });
      return decision.restart ? decision.delayMs : -1;
    });
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, LONGEST_DELAY_MS / 2]);
  });

  test("a program that always dies is started a bounded number of times in any window", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 200, maxLength: 200 }),
        (randoms) => {
          let now = 0;
          let recentAt: readonly number[] = [];
          const starts: number[] = [];
          for (const random of randoms) {
            const decision = decideRestart({
              policy: "always",
              exit: failed,
              record: { ...none, recentAt },
              now,
              random,
            });
            now += decision.restart ? decision.delayMs : 60_000;
            if (!decision.restart) continue;
            starts.push(now);
            recentAt = [...recentRestarts(recentAt, now), now];
          }
          for (const start of starts)
            expect(starts.filter((at) => at >= start && at < start + WINDOW_MS).length).toBeLessThanOrEqual(
              MOST_RESTARTS + 1,
            );
        },
      ),
      { numRuns: 20 },
    );
  });

  test("a clock set back does not make old restarts count for ever", () => {
    expect(recentRestarts([10 * WINDOW_MS], 0)).toEqual([]);
  });
});

test("one unanswered question is no verdict, two are, and an answer forgets both", () => {
  const first = judge(healthy, false);
  const second = judge(first.health, false);
  expect([first.unreachable, second.unreachable]).toEqual([false, true]);
  expect(judge(second.health, true)).toEqual({ health: healthy, unreachable: false });
});
