/**
 * Each time-out fires once, at the right moment, over a real store: with
 * daemons that die in between, and a wall clock that somebody sets.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../test/support/test-clock.ts";
import type { Amendment } from "../session/amend.ts";
import type { Input } from "../session/input.ts";
import type { Reading } from "../session/reading.ts";
import { type ChosenTimeOuts, DEFAULT_TIME_OUTS, type TimeOutAction, type TimeOutName } from "../session/time-out.ts";
import { makeHome } from "../store/store-fixture.ts";
import { agentWith, type Ground, makeGround } from "./attention/watch-fixture.ts";
import { createScheduler, type Scheduler } from "./ledger/scheduler.ts";
import { createTimeOuts } from "./time-outs.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** After a jump of the clock everything is looked at before anything is done. */
const LOOK_MS = 2_000;

let clock: TestClock;
let ground: Ground;
let scheduler: Scheduler | undefined;
let chosen: ChosenTimeOuts;
let around: { isCaughtUp: boolean; isParked: boolean; typedAt: number | null };

beforeEach(() => {
  clock = makeTestClock();
  chosen = DEFAULT_TIME_OUTS;
  around = { isCaughtUp: true, isParked: false, typedAt: null };
});
afterEach(async () => {
  scheduler?.close();
  await ground.dispose();
});

async function begin(changes: Amendment = {}): Promise<void> {
  ground = await makeGround(agentWith({}), changes, makeHome(), clock);
  watch();
}

function choose(which: TimeOutName, afterMs: number, action: TimeOutAction): void {
  chosen = { ...chosen, [which]: { afterMs, action, from: "start" } };
}

function watch(): void {
  scheduler = createScheduler({ clock, log: ground.home.log, observe: async () => undefined });
  const { store, ledger } = ground;
  const timeOuts = createTimeOuts({
    store,
    ledger,
    clock,
    scheduler,
    log: ground.home.log,
    chosen: () => chosen,
    isCaughtUp: () => around.isCaughtUp,
    canInterrupt: () => true,
    isParked: () => around.isParked,
    lastTypedAt: async () => around.typedAt,
  });
  ledger.onCommit((id) => {
    const session = store.registry.get(id);
    if (session !== undefined) timeOuts.attend(session);
  });
  timeOuts.start();
}

/** Killed; nobody is there for so long; then another one. */
async function daemonAwayFor(ms: number): Promise<void> {
  scheduler?.close();
  await clock.advance(ms);
  ground = await ground.restart();
  watch();
}

/** What follows waits for the disk, and then for the clock again. */
async function untilFired(): Promise<void> {
  await eventually("it has fired", async () => {
    await clock.advance(10);
    return fired().length === 1;
  });
}

const fired = () => ground.events("timed-out");
const read = (reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", ...reading });
const starting = {
  conversation: {
    activity: { status: "starting", asks: null, evidence: { source: "operator", detail: "asked for", at: 1 } },
  },
} as const;
const asked = {
  requested: { id: "q", kind: "command", title: "Run it", subject: "ls", cwd: null, reason: null },
} as const;

const CASES: readonly (readonly [TimeOutName, TimeOutAction, () => Promise<unknown>])[] = [
  ["start", "report", async () => await begin(starting)],
  ["turn", "interrupt", async () => [await begin(), await read({ turn: { phase: "started", id: "a" } })]],
  ["idle", "end", async () => await begin()],
  [
    "approval",
    "report",
    async () => [
      await begin(),
      await read({ turn: { phase: "started", id: "a" } }),
      await read({ activity: "awaiting-approval", approval: asked }),
    ],
  ],
  [
    "stop_grace",
    "kill",
    async () => [await begin(), await ground.apply({ type: "end", graceMs: HOUR, afterTurn: false } satisfies Input)],
  ],
  ["age", "end", async () => await begin()],
];

describe.each(CASES)("%s, then %s", (which, action, arrange) => {
  test.each([
    ["set forward by two hours", 2 * HOUR],
    ["set back by two hours", -2 * HOUR],
  ])("fires once after an hour, with the clock %s and the daemon killed in between", async (_, jump) => {
    if (which !== "stop_grace") choose(which, HOUR, action);
    await arrange();
    await eventually("it is counted", () => ground.session().timeouts.countdowns.some((one) => one.which === which));
    await clock.advance(10 * MINUTE);
    clock.jump(jump);
    await clock.advance(10 * MINUTE);
    await daemonAwayFor(15 * MINUTE);
    clock.jump(-jump);
    await clock.advance(15 * MINUTE);
    await daemonAwayFor(0);
    clock.jump(jump);
    // Fifty minutes; what the daemons needed to look is in them.
    await clock.advance(9 * MINUTE);
    expect(fired()).toEqual([]);
    await clock.advance(MINUTE + LOOK_MS);
    await untilFired();
    expect(fired()).toMatchObject([{ which, action, afterSeconds: 3_600 }]);
    clock.jump(jump);
    await daemonAwayFor(HOUR);
    await clock.advance(3 * HOUR);
    expect(fired()).toHaveLength(1);
  });

  test("fires right after a start if its time passed while no daemon was there; once", async () => {
    if (which !== "stop_grace") choose(which, HOUR, action);
    await arrange();
    await eventually("it is counted", () => ground.session().timeouts.countdowns.some((one) => one.which === which));
    await daemonAwayFor(3 * HOUR);
    await clock.advance(LOOK_MS);
    await untilFired();
    await daemonAwayFor(3 * HOUR);
    await clock.advance(HOUR);
    expect(fired()).toHaveLength(1);
  });
});

test("what happened while no daemon was there is read first", async () => {
  choose("turn", HOUR, "end");
  await begin();
  await read({ turn: { phase: "started", id: "a" } });
  around.isCaughtUp = false;
  await daemonAwayFor(3 * HOUR);
  await clock.advance(30_000);
  expect(fired()).toEqual([]);
  await read({ turn: { phase: "completed", id: "a" } });
  around.isCaughtUp = true;
  await clock.advance(HOUR);
  expect(fired()).toEqual([]);
});

test("a session that waits for a usage limit with something to do is not idle, nor one in which somebody types", async () => {
  choose("idle", HOUR, "end");
  await begin();
  around.isParked = true;
  await clock.advance(2 * HOUR);
  expect(fired()).toEqual([]);
  around = { ...around, isParked: false, typedAt: clock.now() };
  await clock.advance(HOUR - MINUTE);
  expect(fired()).toEqual([]);
  await clock.advance(MINUTE + LOOK_MS);
  await untilFired();
});

test("a hold lasts as long as it was asked for, whatever the clock does, and across daemons", async () => {
  choose("age", HOUR, "end");
  await begin();
  await ground.apply({ type: "hold", reason: "evidence", forMs: 4 * HOUR });
  await clock.advance(2 * HOUR);
  clock.jump(-2 * HOUR);
  await daemonAwayFor(HOUR + LOOK_MS);
  await eventually("its end is near", async () => {
    await clock.advance(10);
    return ground.events("hold-ending").length === 1;
  });
  clock.jump(4 * HOUR);
  await clock.advance(HOUR - MINUTE);
  expect(fired()).toEqual([]);
  await daemonAwayFor(MINUTE);
  await clock.advance(LOOK_MS);
  await untilFired();
  expect([ground.events("hold-ending").length, ground.events("hold-lapsed").length]).toEqual([1, 1]);
});
