/** One scheduler on the injected clock; after a gap it observes before it acts. */
import { beforeEach, describe, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import { systemClock } from "../../platform/clock.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";

let clock: TestClock;
let scheduler: Scheduler;
let done: string[];
let logged: object[];
/** Resolves what `observe` waits for. */
let seen: () => void;
const act = (what: string) => (): void => void done.push(`${what} at ${clock.monotonic()}`);

beforeEach(() => {
  clock = makeTestClock();
  [done, logged, seen] = [[], [], () => undefined];
  scheduler = createScheduler({
    clock,
    log: (_message, fields) => void logged.push(fields ?? {}),
    observe: () => {
      done.push("observe");
      return new Promise((resolve) => (seen = resolve));
    },
  });
});

describe("the scheduler", () => {
  test("does one thing for each session and purpose, when it is due", async () => {
    scheduler.after("s", "stall", 100, act("stall"));
    scheduler.after("s", "poke", 50, act("poke"));
    scheduler.after("t", "stall", 200, act("the other's"));
    scheduler.after(null, "sweep", 150, act("sweep"));
    await clock.advance(1_000);
    expect(done).toEqual(["poke at 50", "stall at 100", "sweep at 150", "the other's at 200"]);
  });

  test("what is asked for again replaces what was, or counts only if it is sooner", async () => {
    scheduler.after("s", "replaced", 10, act("early"));
    scheduler.after("s", "replaced", 30, act("late"));
    scheduler.atMost("s", "soonest", 40, act("later"));
    scheduler.atMost("s", "soonest", 20, act("sooner"));
    scheduler.atMost("s", "soonest", 35, act("too late"));
    await clock.advance(100);
    expect(done).toEqual(["sooner at 20", "late at 30"]);
  });

  test("what is cancelled does not happen, nor anything after the close", async () => {
    scheduler.after("s", "a", 10, act("a"));
    scheduler.after("s", "b", 10, act("b"));
    scheduler.cancel("s", "a");
    await clock.advance(10);
    scheduler.after("s", "c", 10, act("c"));
    scheduler.close();
    scheduler.after("s", "d", 10, act("d"));
    await clock.advance(100);
    expect([done, clock.waiting()]).toEqual([["b at 10"], []]);
  });

  test("one that throws harms no other", async () => {
    scheduler.after("s", "bad", 10, () => {
      throw new Error("no");
    });
    scheduler.after("s", "good", 10, act("good"));
    await clock.advance(10);
    expect(done).toEqual(["good at 10"]);
    expect(logged).toMatchObject([{ session: "s", purpose: "bad" }]);
  });

  test("held up for long, it looks first, and what was due waits for that", async () => {
    scheduler.after("s", "stall", 100, act("stall"));
    scheduler.after("t", "restart", 3_000, act("restart"));
    await clock.holdUp(60_000);
    expect(done).toEqual(["observe"]);
    expect(logged).toEqual([{ late_ms: 59_900, wall_clock_jump_ms: 0 }]);
    await clock.advance(2_000);
    expect(done).toEqual(["observe"]);
    seen();
    await clock.advance(0);
    expect(done).toEqual(["observe", "stall at 62000", "restart at 62000"]);
  });

  test("what the look makes needless is not done", async () => {
    scheduler.after("s", "stall", 100, act("stall"));
    await clock.holdUp(60_000);
    scheduler.cancel("s", "stall");
    seen();
    await clock.advance(10_000);
    expect(done).toEqual(["observe"]);
  });

  test("a machine that slept is known by its wall clock, forwards or backwards; it is looked at once", async () => {
    for (const jump of [3_600_000, -3_600_000]) {
      scheduler.after("s", "stall", 100, act("stall"));
      clock.jump(jump);
      await clock.advance(100);
      seen();
      await clock.advance(1_900);
    }
    expect(done).toEqual(["observe", "stall at 1100", "observe", "stall at 3100"]);
  });

  test("agents' hooks are given a moment to be read, also if the runtimes answer at once", async () => {
    scheduler.after("s", "stall", 100, act("stall"));
    await clock.holdUp(10_000);
    seen();
    await clock.advance(999);
    expect(done).toEqual(["observe"]);
    await clock.advance(1);
    expect(done).toEqual(["observe", "stall at 11000"]);
  });

  test("a runtime that does not answer holds nothing up for ever", async () => {
    scheduler.after("s", "stall", 100, act("stall"));
    await clock.holdUp(10_000);
    await clock.advance(5_000);
    expect(done).toEqual(["observe", "stall at 15000"]);
  });

  test("a busy machine is no gap", async () => {
    scheduler.after("s", "stall", 100, act("stall"));
    await clock.holdUp(4_000);
    expect(done).toEqual(["stall at 4000"]);
  });
});

test("the system's clock can be asked for more than setTimeout takes, and takes it back", async () => {
  let isOver = false;
  const cancel = systemClock.after(2 ** 31 + 1_000, () => (isOver = true));
  await systemClock.sleep(20);
  cancel();
  expect(isOver).toBe(false);
});
