/** When looks at processes become a verdict, and when they do not. */
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { PlacedTarget, Vitals } from "../../runtime/contract.ts";
import { healthOf } from "../../session/health.ts";
import type { ProcessVitals } from "../../session/process-vitals.ts";
import { createHealthWatch, type HealthWatch } from "./health-watch.ts";
import { createStallWatch } from "./stall-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";

const INTERVAL_MS = 5_000;
const STALL_MS = 600_000;

let clock: TestClock;
let ground: Ground;
let watch: HealthWatch;
let questions: (readonly PlacedTarget[])[];
let processes: readonly ProcessVitals[];
let isReachable: boolean;
let ping: (() => Promise<void>) | null;
let missing: number;

async function open(): Promise<void> {
  clock = makeTestClock();
  [questions, processes, isReachable, ping, missing] = [[], [one({})], true, null, 0];
  ground = await makeGround(agentWith({}), {}, undefined, clock);
  use();
}

function use(): void {
  watch = ground.use(
    createHealthWatch({
      ...ground.parts,
      runtime: () => ({
        vitals: async (sessions): Promise<Vitals> => {
          questions.push(sessions);
          const answer = { askedAt: clock.now(), evidence: "seen" };
          if (!isReachable) return { ...answer, reachable: false };
          return { ...answer, reachable: true, entries: sessions.map(({ target }) => ({ ...target, processes })) };
        },
      }),
      channel: () => (ping === null ? null : { ping }),
      onNothingFound: () => (missing += 1),
      intervalMs: INTERVAL_MS,
      stallAfterMs: STALL_MS,
    }),
  );
  ground.use(
    createStallWatch({
      ...ground.parts,
      stallAfterMs: STALL_MS,
      workedAt: watch.workedAt,
    }),
  );
}

afterEach(() => ground.dispose());

function one(changes: Partial<ProcessVitals>): ProcessVitals {
  return { id: "7", text: "process 7", state: "able", isForeground: true, cpuMs: 0, endedCpuMs: 0, ...changes };
}

const stopped = [one({ state: "stopped" })];
const started = (id = "a"): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", turn: { phase: "started", id } });
const completed = (id = "a"): Promise<void> =>
  ground.readings.take(ground.session(), {
    source: "hook",
    detail: "a hook",
    activity: "idle",
    turn: { phase: "completed", id },
  });
const verdict = (): string => healthOf(ground.session()).verdict;
const changes = (): readonly string[] =>
  ground.events("health-changed").map(({ from, health }) => `${from} → ${health.verdict}`);

/** So many more looks, however long the disk takes in between. */
async function looks(count: number): Promise<void> {
  for (let look = 0; look < count; look++) {
    const before = questions.length;
    await clock.advance(INTERVAL_MS);
    // After a gap it lets the agents' own reports come first.
    await eventually("it looked", () => questions.length > before || void clock.advance(1_000));
    await ground.ledger.idle();
  }
}

test("an idle session is not looked at, and one that works until its turn is over", async () => {
  await open();
  await clock.advance(10 * INTERVAL_MS);
  expect([questions, clock.waiting()]).toEqual([[], []]);
  await started();
  await clock.advance(250);
  await eventually("it was looked at soon", () => questions.length === 1);
  expect(questions).toEqual([[{ target: { sessionId: "s", incarnation: 1 }, place: ground.session().process.place }]]);
  await looks(2);
  expect(watch.signs("s")[0]).toBe("1 process; processor time 0 s, 0 s of it in the last 5 s.");
  await completed();
  const asked = questions.length;
  await clock.advance(10 * INTERVAL_MS);
  expect([questions.length, clock.waiting(), watch.signs("s")]).toEqual([asked, [], []]);
});

test("a stopped agent hangs after two looks, and no longer when it goes on", async () => {
  await open();
  await started();
  await looks(1);
  processes = stopped;
  await looks(1);
  expect(verdict()).toBe("healthy");
  await looks(1);
  expect([verdict(), changes()]).toEqual(["hung", ["healthy → hung"]]);
  await looks(200);
  expect([verdict(), changes().length, ground.events("session-stalled")]).toEqual(["hung", 1, []]);
  processes = [one({})];
  await looks(1);
  expect([verdict(), changes()]).toEqual(["healthy", ["healthy → hung", "hung → healthy"]]);
});

test("a turn that ends takes the verdict with it, also when nobody was there to see", async () => {
  await open();
  await started();
  processes = stopped;
  await looks(2);
  expect(verdict()).toBe("hung");
  await completed();
  await eventually("it is told", () => changes().length === 2);
  expect([verdict(), changes()[1]]).toEqual(["healthy", "hung → healthy"]);
  await started("b");
  await looks(2);
  expect(verdict()).toBe("hung");
  // The next daemon finds it as it was left, and says nothing anew while the cause is there.
  ground = await ground.restart();
  const told = changes().length;
  use();
  await looks(3);
  expect([verdict(), changes().length]).toEqual(["hung", told]);
  processes = [one({})];
  await looks(1);
  expect(verdict()).toBe("healthy");
});

test("of one whose processes are gone the runtime is asked at once", async () => {
  await open();
  await started();
  await looks(2);
  expect(missing).toBe(0);
  processes = [];
  await looks(2);
  expect([missing, verdict()]).toEqual([2, "healthy"]);
});

test("what could not be seen is no miss", async () => {
  await open();
  await started();
  processes = stopped;
  await looks(1);
  isReachable = false;
  await looks(5);
  expect(verdict()).toBe("healthy");
});

test("an agent whose protocol does not answer hangs, one that answers late does not", async () => {
  await open();
  const waiting: PromiseWithResolvers<void>[] = [];
  ping = () => {
    const next = Promise.withResolvers<void>();
    waiting.push(next);
    return next.promise;
  };
  await started();
  await looks(5);
  waiting.shift()?.resolve();
  await looks(6);
  expect(verdict()).toBe("healthy");
  // One that gave up waiting is asked again, and that is no answer.
  waiting.shift()?.reject(new Error("no answer"));
  await looks(3);
  expect([verdict(), waiting.length]).toEqual(["hung", 1]);
  waiting.shift()?.resolve();
  await looks(1);
  expect(verdict()).toBe("healthy");
});

test("a turn that compiles is slow and never stalls; one that waits for its model does", async () => {
  await open();
  await started();
  await looks(1);
  for (let cpuMs = 0; cpuMs < 200_000; cpuMs += 1_000) {
    processes = [one({}), one({ id: "8", isForeground: false, cpuMs })];
    await looks(1);
  }
  expect([verdict(), changes(), ground.events("session-stalled")]).toEqual(["slow", ["healthy → slow"], []]);
  processes = [one({})];
  await looks(STALL_MS / INTERVAL_MS);
  await eventually("it stalled", () => ground.events("session-stalled").length === 1);
  expect(verdict()).toBe("stalled");
});

/** A machine that slept is one whose clock was set ahead: the monotonic clock stands meanwhile. */
const GAPS: readonly [string, (clock: TestClock) => Promise<void> | void][] = [
  ["the clock is set ahead by two hours", (now) => now.jump(7_200_000)],
  ["the clock is set back by two hours", (now) => now.jump(-7_200_000)],
  ["the daemon is stopped for a minute", (now) => now.holdUp(60_000)],
  ["the daemon is stopped for two hours", (now) => now.holdUp(7_200_000)],
];

test.each(GAPS)("ten times %s: no alarm at all", async (_, gap) => {
  await open();
  await started();
  await looks(1);
  for (let round = 0; round < 10; round++) {
    // Seen stopped once before it and once after it: not twice in a row.
    processes = stopped;
    await looks(1);
    await gap(clock);
    await looks(1);
    processes = [one({})];
    await looks(2);
    await ground.readings.take(ground.session(), { source: "hook", detail: "it goes on" });
  }
  expect([verdict(), changes(), ground.events("session-stalled")]).toEqual(["healthy", [], []]);
});
