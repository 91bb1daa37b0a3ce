import { amend } from "../../session/amend.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import { read, run, runningSession } from "../../session/run-inputs.ts";
import type { Store } from "../../store/contract.ts";
import { createScheduler } from "../ledger/scheduler.ts";
import type { Readings } from "./readings.ts";
import { createSoftWatch, type SoftWatch } from "./soft-watch.ts";

const working = run(runningSession(), read({ turn: { phase: "started", id: "t" } })).session;
const idle = run(runningSession(), read({ activity: "idle" })).session;
const screen = (activity: NonNullable<Reading["activity"]>): Reading => ({
  source: "screen",
  detail: "rule r",
  activity,
});

let clock: TestClock;
let session: Session;
let taken: Reading[];
let noted: string[];
let logged: string[];
let soft: SoftWatch;
/** What the source says when it is asked again. */
let now: Reading | null;
let asked: number;
/** Of the agent's processor time, for each millisecond that passes. */
let share: number;

beforeEach(() => {
  session = working;
  [taken, noted, logged, now, asked, share] = [[], [], [], null, 0, 0];
  clock = makeTestClock();
  let usedMs = 0;
  let lookedAt = clock.monotonic();
  const log = (message: string): void => void logged.push(message);
  const registry = { get: (id: string) => (id === "abc" ? session : undefined) };
  const readings = {
    take: async (_of: unknown, reading: Reading) => void taken.push(reading),
    note: (_id: string, _reading: Reading, weight: string) => void noted.push(weight),
  };
  soft = createSoftWatch({
    store: { registry } as unknown as Store,
    readings: readings as unknown as Readings,
    clock,
    scheduler: createScheduler({ clock, log, observe: async () => undefined }),
    log,
    // Five times that for a screen that merely looks idle in a turn, which is what these tests see.
    staysMs: 300,
    processorMs: async () => {
      usedMs += (clock.monotonic() - lookedAt) * share;
      lookedAt = clock.monotonic();
      return usedMs;
    },
  });
});

const ask = async (): Promise<Reading | null> => {
  asked++;
  return now;
};
const see = (reading: Reading, via: "screen" | "status" = "screen"): Promise<void> => {
  now = reading;
  return soft.weigh(session, via, reading, ask);
};
const wait = (ms: number): Promise<void> => clock.advance(ms);

describe("a soft reading", () => {
  test("that looks idle in a turn does not count while the agent uses the processor, but not for ever", async () => {
    share = 0.4;
    await see(screen("idle"));
    await wait(1_500);
    expect(taken).toEqual([]);
    await wait(3_000);
    expect([taken, asked > 5]).toEqual([[], true]);
    share = 0.02;
    await wait(300);
    expect(taken).toMatchObject([{ turn: { phase: "interrupted" } }]);

    share = 0.4;
    taken = [];
    await see(screen("idle"));
    await wait(9_000);
    expect(taken).toEqual([]);
    await wait(600);
    expect(taken).toMatchObject([{ turn: { phase: "interrupted" } }]);
  });

  test("counts at once where nothing better speaks", async () => {
    session = runningSession();
    await see(screen("working"));
    expect([taken, noted]).toEqual([[screen("working")], []]);
  });

  test("is only noted where the record says so already", async () => {
    session = idle;
    await see(screen("idle"));
    await see(screen("working"));
    await wait(10_000);
    expect([taken, asked]).toEqual([[], 0]);
    expect(noted).toEqual(["ignored: already known from the hook", "ignored: the hook says idle, and counts more"]);
  });

  test("of an unknown session is nothing", async () => {
    await soft.weigh({ id: "other", process: { incarnation: 1 } }, "screen", screen("idle"), ask);
    expect([taken, noted]).toEqual([[], []]);
  });
});

test("a reading of an earlier incarnation, or of one that is over, counts for nothing", async () => {
  const before = session;
  session = amend(runningSession(), { process: { incarnation: before.process.incarnation + 1 } });
  await soft.weigh(before, "screen", screen("working"), ask);
  session = amend(before, { process: { exit: { code: null, signal: "SIGKILL", at: 1 } } });
  await soft.weigh(before, "screen", screen("idle"), ask);
  await wait(5_000);
  expect([taken, noted, asked]).toEqual([[], [], 0]);
});

describe("one that contradicts the record", () => {
  test("counts once it is still said after a while, and then as what it amounts to", async () => {
    await see(screen("idle"));
    expect([taken, noted]).toEqual([[], ["not counted yet: it contradicts the hook; it counts if it does not change"]]);
    await wait(1_400);
    expect([taken, asked]).toEqual([[], 0]);
    await wait(200);
    expect(asked).toBe(1);
    expect(taken).toEqual([
      {
        ...screen("idle"),
        detail: "rule r; idle again, and no source reported an end",
        turn: { phase: "interrupted" },
      },
    ]);
    await wait(10_000);
    expect([taken.length, asked]).toEqual([1, 1]);
  });

  test("does not count sooner because it is seen often, nor later", async () => {
    for (let time = 0; time < 14; time++) {
      await see(screen("idle"));
      await wait(100);
    }
    expect(taken).toEqual([]);
    await wait(200);
    expect(taken).toHaveLength(1);
  });

  test("is dropped when it is no longer said", async () => {
    await see(screen("idle"));
    now = screen("working");
    await wait(5_000);
    expect([taken, asked]).toEqual([[], 1]);
  });

  test("is dropped when the source is silent", async () => {
    await see(screen("idle"));
    now = null;
    await wait(5_000);
    expect(taken).toEqual([]);
  });

  test("is asked about again where the source cannot be asked, because it may never show anything else", async () => {
    let isThere = false;
    const unsure = async (): Promise<Reading | null> => {
      asked++;
      if (!isThere) throw new Error("no tmux");
      return screen("idle");
    };
    await soft.weigh(session, "screen", screen("idle"), unsure);
    await wait(5_000);
    expect([taken, logged]).toEqual([[], ["a second look at a session failed; tried again"]]);
    isThere = true;
    await wait(10_000);
    expect(taken).toMatchObject([{ activity: "idle", turn: { phase: "interrupted" } }]);
    const before = asked;
    await wait(60_000);
    expect(asked).toBe(before);
  });

  test("begins anew when something else is said in between", async () => {
    await see(screen("idle"));
    await wait(1_000);
    await see(screen("working"));
    await wait(100);
    await see(screen("idle"));
    await wait(1_400);
    expect(taken).toEqual([]);
    await wait(200);
    expect(taken).toHaveLength(1);
  });

  test("is dropped when a better source told meanwhile", async () => {
    await see(screen("idle"));
    session = run(working, read({ turn: { phase: "completed", id: "t" } })).session;
    await wait(5_000);
    expect([taken, asked]).toEqual([[], 1]);
  });

  test("begins anew in the next turn", async () => {
    await see(screen("idle"));
    await wait(1_000);
    session = run(
      working,
      read({ turn: { phase: "completed", id: "t" } }),
      read({ turn: { phase: "started", id: "u" } }),
    ).session;
    await wait(600);
    expect([taken, asked]).toEqual([[], 1]);
    await wait(1_600);
    expect(taken).toHaveLength(1);
  });

  test("by one source is not confirmed by another", async () => {
    await see(screen("idle"), "screen");
    await wait(1_490);
    await see(screen("idle"), "status");
    expect(taken).toEqual([]);
    await wait(100);
    expect(taken).toHaveLength(1);
  });

  test("is forgotten with the session", async () => {
    await see(screen("idle"), "screen");
    await see(screen("idle"), "status");
    soft.forget("abc");
    await wait(10_000);
    expect([taken, asked, clock.waiting()]).toEqual([[], 0, []]);
  });
});
