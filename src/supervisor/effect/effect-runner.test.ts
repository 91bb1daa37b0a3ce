import { beforeEach, describe, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { Log } from "../../platform/log.ts";
import { createScheduler } from "../ledger/scheduler.ts";
import type { EffectRunner, Task } from "./effect-runner.ts";
import { createEffectRunner } from "./effect-runner.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";

let clock: TestClock;
beforeEach(() => void (clock = makeTestClock()));

function makeRunner(
  nextTask: (sessionId: string) => Task | null,
  log: Log = () => undefined,
  random = (): number => 0,
): EffectRunner {
  const scheduler = createScheduler({ clock, log, observe: async () => undefined });
  return createEffectRunner({ nextTask, clock, scheduler, log, random });
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the effect runner", () => {
  test("does one thing at a time per session, and looks again after each", async () => {
    const done: string[] = [];
    const todo = ["first", "second"];
    const next = (): Task | null => {
      const key = todo[0];
      if (key === undefined) return null;
      return { key, kind: key, perform: async () => void done.push(todo.shift() ?? "") };
    };
    const runner = makeRunner(next);
    runner.poke("s");
    runner.poke("s");
    await settle();
    expect(done).toEqual(["first", "second"]);
  });

  test("tries a failed effect again after growing pauses, and not in between", async () => {
    let attempts = 0;
    const task: Task = { key: "k", kind: "k", perform: () => Promise.reject(new Error(`attempt ${++attempts}`)) };
    const runner = makeRunner(() => task);
    runner.poke("s");
    await settle();
    runner.poke("s");
    await settle();
    expect(attempts).toBe(1);
    await clock.advance(499);
    expect(attempts).toBe(1);
    await clock.advance(1);
    expect(attempts).toBe(2);
    expect(clock.waiting()).toEqual([1_000]);
  });

  test("what failed for many at once is not tried for all at once again", async () => {
    const drawn = [0, 0.5, 1];
    const task: Task = { key: "stop", kind: "stop", perform: () => Promise.reject(new Error("tmux does not answer")) };
    const runner = makeRunner(
      () => task,
      undefined,
      () => drawn.shift() ?? 0,
    );
    for (const sessionId of ["a", "b", "c"]) runner.poke(sessionId);
    await settle();
    expect(clock.waiting()).toEqual([500, 625, 750]);
  });

  test("what cannot be decided for one session is tried again, and harms no other", async () => {
    const done: string[] = [];
    const logged: unknown[] = [];
    let isBroken = true;
    const next = (sessionId: string): Task | null => {
      if (sessionId === "bad" && isBroken) throw new Error("no such agent");
      if (done.includes(sessionId)) return null;
      return { key: "k", kind: "k", perform: async () => void done.push(sessionId) };
    };
    const runner = makeRunner(next, (_message, fields) => logged.push(fields));
    runner.poke("bad");
    runner.poke("good");
    await settle();
    expect(done).toEqual(["good"]);
    expect(logged).toMatchObject([{ session: "bad", why: "no such agent" }]);
    isBroken = false;
    await clock.advance(500);
    expect(done).toEqual(["good", "bad"]);
  });

  test.each([
    ["less patience hurries it", 5, true],
    ["more patience does not", 500, false],
  ])("%s", async (_what, nextPatienceMs, isHurried) => {
    let patienceMs = 50;
    let hurried = false;
    const task = (): Task => ({
      key: `stop ${patienceMs}`,
      kind: "stop",
      patienceMs,
      perform: (hurry) =>
        new Promise((resolve) => hurry.addEventListener("abort", () => resolve(void (hurried = true)))),
    });
    const runner = makeRunner(task);
    runner.poke("s");
    patienceMs = nextPatienceMs;
    runner.poke("s");
    await settle();
    expect(hurried).toBe(isHurried);
  });

  test("closing hurries nothing and waits only a moment", async () => {
    let hurried = false;
    const task: Task = {
      key: "stop",
      kind: "stop",
      patienceMs: 60_000,
      perform: (hurry) => new Promise(() => hurry.addEventListener("abort", () => (hurried = true))),
    };
    const runner = makeRunner(() => task);
    runner.poke("s");
    const closed = runner.close();
    await clock.advance(2_000);
    await closed;
    expect(hurried).toBe(false);
  });

  test("an effect that ends without changing anything does not spin", async () => {
    let runs = 0;
    const task: Task = { key: "k", kind: "k", perform: async () => void runs++ };
    makeRunner(() => task).poke("s");
    await settle();
    expect([runs, clock.waiting()]).toEqual([1, [500]]);
  });
});

test("a keyed queue keeps the order within a key, also after a failure, and not across keys", async () => {
  const queue = createKeyedQueue();
  const order: string[] = [];
  let release = (): void => undefined;
  const blocked = queue.run("a", () => new Promise<void>((resolve) => (release = resolve)));
  const failing = queue.run("a", () => Promise.reject(new Error("no"))).catch(() => order.push("a failed"));
  const last = queue.run("a", async () => void order.push("a last"));
  await queue.run("b", async () => void order.push("b"));
  release();
  await Promise.all([blocked, failing, last, queue.idle()]);
  expect(order).toEqual(["b", "a failed", "a last"]);
});
