import { describe, expect, test } from "vitest";
import type { Clock } from "../../platform/clock.ts";
import type { Task } from "./effect-runner.ts";
import { createEffectRunner } from "./effect-runner.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";

/** A clock whose sleeps end when the test says so. */
function manualClock() {
  const sleepers: { readonly ms: number; readonly wake: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
        sleepers.push({ ms, wake: resolve });
      }),
  };
  return { clock, sleepers };
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
    const runner = createEffectRunner({ nextTask: next, clock: manualClock().clock, log: () => undefined });
    runner.poke("s");
    runner.poke("s");
    await settle();
    expect(done).toEqual(["first", "second"]);
  });

  test("tries a failed effect again after growing pauses, and not in between", async () => {
    const { clock, sleepers } = manualClock();
    let attempts = 0;
    const task: Task = { key: "k", kind: "k", perform: () => Promise.reject(new Error(`attempt ${++attempts}`)) };
    const runner = createEffectRunner({ nextTask: () => task, clock, log: () => undefined });
    runner.poke("s");
    await settle();
    runner.poke("s");
    await settle();
    expect(attempts).toBe(1);
    sleepers[0]?.wake();
    await settle();
    expect(attempts).toBe(2);
    expect(sleepers.map((sleeper) => sleeper.ms)).toEqual([500, 1_000]);
  });

  test("what cannot be decided for one session is tried again, and harms no other (issue 7, 24)", async () => {
    const { clock, sleepers } = manualClock();
    const done: string[] = [];
    const logged: unknown[] = [];
    let isBroken = true;
    const next = (sessionId: string): Task | null => {
      if (sessionId === "bad" && isBroken) throw new Error("no such agent");
      if (done.includes(sessionId)) return null;
      return { key: "k", kind: "k", perform: async () => void done.push(sessionId) };
    };
    const runner = createEffectRunner({ nextTask: next, clock, log: (_message, fields) => logged.push(fields) });
    runner.poke("bad");
    runner.poke("good");
    await settle();
    expect(done).toEqual(["good"]);
    expect(logged).toMatchObject([{ session: "bad", why: "no such agent" }]);
    isBroken = false;
    sleepers[0]?.wake();
    await settle();
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
    const runner = createEffectRunner({ nextTask: task, clock: manualClock().clock, log: () => undefined });
    runner.poke("s");
    patienceMs = nextPatienceMs;
    runner.poke("s");
    await settle();
    expect(hurried).toBe(isHurried);
  });

  test("closing hurries nothing and waits only a moment", async () => {
    const { clock, sleepers } = manualClock();
    let hurried = false;
    const task: Task = {
      key: "stop",
      kind: "stop",
      patienceMs: 60_000,
      perform: (hurry) => new Promise(() => hurry.addEventListener("abort", () => (hurried = true))),
    };
    const runner = createEffectRunner({ nextTask: () => task, clock, log: () => undefined });
    runner.poke("s");
    const closed = runner.close();
    sleepers[0]?.wake();
    await closed;
    expect(hurried).toBe(false);
  });

  test("an effect that ends without changing anything does not spin", async () => {
    const { clock, sleepers } = manualClock();
    let runs = 0;
    const task: Task = { key: "k", kind: "k", perform: async () => void runs++ };
    createEffectRunner({ nextTask: () => task, clock, log: () => undefined }).poke("s");
    await settle();
    expect([runs, sleepers.length]).toEqual([1, 1]);
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
