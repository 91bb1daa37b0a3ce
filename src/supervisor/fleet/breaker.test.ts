/** Who is parked, for how long, and how it goes on, over a real store and a clock that the test turns. */
import { afterEach, describe, expect, test } from "vitest";
import { amend } from "../../session/amend.ts";
import { OPERATOR } from "../../session/caller.ts";
import { putSession } from "../../store/change.ts";
import { type BreakerGround, limitReading, makeBreakerGround } from "./breaker-fixture.ts";
import { createLedger } from "../ledger/ledger.ts";
import { createReceipts } from "../ledger/receipts.ts";
import { RESUME_TEXT } from "./turn-resumer.ts";

let ground: BreakerGround;
afterEach(() => ground.dispose());

const HOUR_MS = 3_600_000;
const three = { a: "work", b: "work", c: "other" };

/** `a` meets the limit, which resets after so long; the others have something to do. */
async function closed(ms: number, settings = {}): Promise<void> {
  ground = await makeBreakerGround(three, settings);
  await ground.begin("a");
  await ground.reject("a", { resetsAt: ground.clock.now() + ms });
  await ground.message("b", "m-b");
}

describe("the gate", () => {
  test("parks every session of the account until the stated reset, and no other", async () => {
    await closed(20_000);
    expect([ground.isHeld("a"), ground.isHeld("b"), ground.isHeld("c")]).toEqual([true, true, false]);
    expect(ground.quota()).toMatchObject({
      limit: "requests",
      source: "hook",
      confidence: "stated",
      reportedBy: "a",
      gate: { phase: "waiting", failures: 0, waitMs: 20_000 },
    });
    expect(ground.breaker().parked(ground.session("b"))).toMatchObject({ hasWork: true });
    expect(await ground.events("quota-parked")).toMatchObject([{ account: "practice work", sessions: 2 }]);
    expect(ground.session("a").quota.rejections).toEqual([]);
    await ground.pass(19_900);
    expect(ground.isHeld("a")).toBe(true);
  });

  test("lets one go first, and the others when that one got an answer, one by one", async () => {
    await closed(20_000);
    await ground.pass(20_100);
    expect([ground.isHeld("a"), ground.isHeld("b")]).toEqual([false, true]);
    expect(ground.resumes("a")).toEqual([RESUME_TEXT]);
    await ground.begin("a");
    await ground.pass(5_000);
    expect(ground.isHeld("b")).toBe(true);
    await ground.end("a");
    expect(ground.quota().gate).toMatchObject({ phase: "opening", queue: ["b"] });
    expect(ground.isHeld("b")).toBe(true);
    await ground.pass(1_300);
    expect(ground.isHeld("b")).toBe(false);
    expect(ground.quota()).toMatchObject({ gate: null, usedPercent: null });
    expect(await ground.events("quota-opened")).toMatchObject([{ limit: "requests" }]);
  });

  test("opens also when the canary's agent says that the limit is not reached, before its turn is over", async () => {
    await closed(20_000);
    await ground.pass(20_100);
    await ground.read("b", { limits: [limitReading({ status: "ok", usedPercent: 3 })] });
    expect(ground.quota().gate).toMatchObject({ phase: "probing" });
    await ground.begin("a");
    await ground.read("a", { limits: [limitReading({ status: "ok", usedPercent: 3 })] });
    expect(ground.quota().gate).toMatchObject({ phase: "opening" });
  });

  test("closes again when the canary is rejected, for longer where nobody says until when", async () => {
    ground = await makeBreakerGround({ a: "work" });
    await ground.begin("a");
    await ground.reject("a");
    expect(ground.quota()).toMatchObject({ limit: "unnamed", confidence: "none" });
    for (const [round, least] of [60_000, 120_000, 240_000].entries()) {
      const wait = ground.quota().gate?.waitMs ?? 0;
      expect(wait).toBeGreaterThanOrEqual(least);
      expect(wait).toBeLessThan(least * 1.25);
      await ground.pass(wait + 100);
      expect(ground.quota().gate).toMatchObject({ phase: "probing", canary: { sessionId: "a" } });
      for (const message of ground.store.mailbox.open("a"))
        await ground.ledger().settle(message, "delivered", null, null);
      await ground.begin("a");
      await ground.reject("a");
      expect(ground.quota().gate).toMatchObject({ phase: "waiting", failures: round + 1 });
    }
    expect(await ground.events("quota-parked")).toHaveLength(4);
  });

  test("chooses another canary when the first is ended or dies", async () => {
    await closed(20_000);
    await ground.pass(20_100);
    expect(ground.quota().gate?.canary?.sessionId).toBe("a");
    await ground.ledger().apply("a", { type: "end", graceMs: 0, afterTurn: false }, { caller: OPERATOR });
    await ground.settled();
    expect(ground.quota().gate?.canary?.sessionId).toBe("b");
  });

  test("does not choose a session that takes nothing because of its branch", async () => {
    await closed(20_000);
    const root = "/elsewhere";
    const held = { ...ground.session("a"), revision: ground.session("a").revision + 1 };
    const checkout = { root, policy: "error", mismatchAt: 3 } as const;
    await ground.store.commit({ changes: [putSession(amend(held, { checkout }))] });
    await ground.pass(20_100);
    expect(ground.quota().gate).toMatchObject({ phase: "probing", canary: { sessionId: "b" } });
  });

  test("a turn under way when it closed proves nothing, one that somebody began afterwards does", async () => {
    ground = await makeBreakerGround({ a: "work", b: "work" });
    await ground.begin("b");
    await ground.begin("a");
    await ground.reject("a", { resetsAt: ground.clock.now() + HOUR_MS });
    await ground.pass(1_000);
    await ground.end("b");
    expect(ground.isHeld("b")).toBe(true);
    await ground.pass(60_000);
    await ground.begin("b");
    await ground.end("b");
    expect(ground.quota().gate?.phase ?? "open").not.toBe("waiting");
  });

  test("a better source replaces the reset of a worse one, never the reverse", async () => {
    ground = await makeBreakerGround({ a: "work" });
    const now = ground.clock.now();
    await ground.begin("a");
    await ground.reject("a", { resetsAt: now + 10_000, confidence: "derived" });
    await ground.read("a", { source: "transcript", limits: [limitReading({ resetsAt: now + 50_000 })] });
    expect(ground.quota()).toMatchObject({ source: "transcript", gate: { dueAt: now + 50_000 } });
    await ground.read("a", { limits: [limitReading({ resetsAt: now + 5_000 })] });
    expect(ground.quota()).toMatchObject({ source: "transcript", gate: { dueAt: now + 50_000 } });
  });

  test("a limit that gets its name later is not waited for twice", async () => {
    ground = await makeBreakerGround({ a: "work" });
    await ground.begin("a");
    await ground.reject("a");
    await ground.read("a", { source: "transcript", limits: [limitReading({ resetsAt: ground.clock.now() + 9_000 })] });
    const phases = ground
      .breaker()
      .quotas()
      .map(({ limit, gate }) => [limit, gate?.phase ?? null]);
    expect(phases).toEqual([
      ["unnamed", null],
      ["requests", "waiting"],
    ]);
    expect(await ground.events("quota-opened")).toMatchObject([{ limit: "unnamed", replacedBy: "requests" }]);
  });

  test("warns once in each window, at 80 and at 95 percent", async () => {
    ground = await makeBreakerGround({ a: "work" });
    const resetsAt = ground.clock.now() + HOUR_MS;
    for (const usedPercent of [10, 79, 81, 82, 96, 97, 98])
      await ground.read("a", { limits: [limitReading({ status: "ok", usedPercent, resetsAt })] });
    await ground.read("a", { limits: [limitReading({ status: "ok", usedPercent: 85, resetsAt: resetsAt + HOUR_MS })] });
    const warned = await ground.events("quota-warned");
    expect(warned.map((body) => ("usedPercent" in body ? body.usedPercent : null))).toEqual([81, 96, 85]);
  });

  test("keeps nobody back if it is switched off", async () => {
    await closed(20_000, { isEnabled: false });
    expect(ground.isHeld("a")).toBe(false);
    expect(ground.resumes("a")).toEqual([]);
  });
});

describe("clocks", () => {
  test("ten jumps of two hours to either side open it neither early nor late", async () => {
    await closed(HOUR_MS);
    for (let jump = 0; jump < 10; jump++) {
      ground.clock.jump(jump % 2 === 0 ? 2 * HOUR_MS : -2 * HOUR_MS);
      await ground.pass(300_000);
      expect(ground.isHeld("a"), `after ${jump + 1} jumps`).toBe(true);
    }
    ground.clock.jump(-2 * HOUR_MS);
    await ground.pass(HOUR_MS - 10 * 300_000 - 1_000);
    expect(ground.isHeld("a")).toBe(true);
    await ground.pass(10_000);
    expect(ground.isHeld("a")).toBe(false);
  });

  test("a machine that slept through the reset goes on soon after it woke", async () => {
    await closed(HOUR_MS);
    await ground.pass(60_000);
    ground.clock.sleepMachine(3 * HOUR_MS);
    await ground.pass(40_000);
    expect(ground.isHeld("a")).toBe(false);
  });

  test("the next daemon waits for the rest, and never longer than it was", async () => {
    await closed(HOUR_MS);
    await ground.pass(600_000);
    await ground.restart();
    await ground.pass(HOUR_MS - 600_000 - 5_000);
    expect(ground.isHeld("b")).toBe(true);
    ground.clock.jump(-2 * HOUR_MS);
    await ground.restart();
    await ground.pass(HOUR_MS + 10_000);
    expect(ground.isHeld("a")).toBe(false);
  });

  test("a daemon that died before it took up a rejection leaves it to the next", async () => {
    ground = await makeBreakerGround(three);
    await ground.begin("a");
    // Nobody listens to this one.
    const { store, clock } = ground;
    const ledger = createLedger({ store, clock, log: () => undefined, receipts: createReceipts() });
    const turn = { phase: "failed", id: "a-1", error: "429", failure: "rate-limit" } as const;
    const limits = [limitReading({ resetsAt: clock.now() + 9_000 })];
    const reading = { source: "hook", detail: "a hook", turn, limits } as const;
    await ledger.apply("a", { type: "read", incarnation: 1, reading });
    expect(ground.breaker().quotas()).toEqual([]);
    await ground.restart();
    expect(ground.isHeld("b")).toBe(true);
    expect(await ground.events("quota-parked")).toHaveLength(1);
  });
});

describe("a turn that failed because of the limit", () => {
  const reset = (): Promise<void> => ground.pass(20_100);

  test("is continued once, across deaths of the daemon", async () => {
    await closed(20_000);
    await reset();
    for (let death = 0; death < 3; death++) await ground.restart();
    expect(ground.resumes("a")).toHaveLength(1);
    expect(ground.session("a").quota).toMatchObject({ failed: null, resume: { turn: 1 } });
  });

  test.each([
    ["its agent goes on by itself", { resumesItself: true as const }, async (): Promise<void> => undefined],
    ["another turn has begun", {}, (): Promise<void> => ground.begin("a")],
    ["something else was asked of it", {}, (): Promise<void> => ground.message("a", "m-a")],
    [
      "somebody paused it",
      {},
      async (): Promise<void> =>
        void (await ground.ledger().apply("a", { type: "pause", mode: "detach" }, { caller: OPERATOR })),
    ],
    [
      "somebody ends it",
      {},
      async (): Promise<void> =>
        void (await ground.ledger().apply("a", { type: "end", graceMs: 0, afterTurn: true }, { caller: OPERATOR })),
    ],
  ])("is not continued if %s", async (_what, limit, happen) => {
    ground = await makeBreakerGround(three);
    await ground.begin("a");
    await ground.reject("a", { resetsAt: ground.clock.now() + 20_000, ...limit });
    await happen();
    await reset();
    await ground.pass(60_000);
    expect(ground.resumes("a")).toEqual([]);
  });

  test("is not continued if the settings say so", async () => {
    await closed(20_000, { resumes: false });
    await reset();
    expect(ground.resumes("a")).toEqual([]);
    expect(ground.quota().gate).toMatchObject({ phase: "probing", canary: { sessionId: "b" } });
  });
});
