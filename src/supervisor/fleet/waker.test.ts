/** When a session is woken and when not, over a real store. */
import { afterEach, describe, expect, test } from "vitest";
import { callerName } from "../../session/caller.ts";
import { exited, makeWakerGround, turnCompleted, type WakerGround } from "./waker-fixture.ts";

let ground: WakerGround;
afterEach(() => ground.dispose());

describe("a wake", () => {
  test("tells of one event soon, with its number, and moves the cursor when it was taken", async () => {
    ground = await makeWakerGround(["fix"]);
    const seq = await ground.happen("fix", turnCompleted);
    await ground.clock.advance(200);
    expect(ground.open()).toBeUndefined();
    await ground.clock.advance(100);
    expect(ground.open()).toMatchObject({ caller: "system", state: "admitted", how: "queue", submit: true });
    expect(ground.open()?.text).toMatch(new RegExp(`^\\[reeve\\] wake ${seq}: 1 event for you since 0: fix turn-c`));
    expect(ground.boss().wakes).toMatchObject({ acknowledged: 0, open: { through: seq, count: 1 } });
    await ground.settle("delivered");
    expect(ground.boss().wakes).toMatchObject({ acknowledged: seq, open: null });
    expect(await ground.sent()).toEqual([{ since: 0, through: seq, count: 1 }]);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
  });

  test("of 500 events in a second is one, with their count", async () => {
    ground = await makeWakerGround(["fix", "docs"]);
    let last = 0;
    for (let tenth = 0; tenth < 10; tenth++) {
      last = await ground.happen("fix", ...Array.from({ length: 25 }, () => turnCompleted));
      last = await ground.happen("docs", ...Array.from({ length: 25 }, () => turnCompleted));
      if (tenth < 9) await ground.clock.advance(99);
    }
    await ground.settled();
    await ground.settle("delivered");
    await ground.settled();
    expect(await ground.sent()).toEqual([{ since: 0, through: last, count: 500 }]);
    expect(ground.open()).toBeUndefined();
  });

  test("gathers what comes while the session is busy, and what comes while one is open goes into the next", async () => {
    ground = await makeWakerGround(["fix", "docs"]);
    await ground.setBusy(true);
    await ground.happen("fix", turnCompleted);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
    const second = await ground.happen("docs", exited);
    await ground.setBusy(false);
    await ground.settled();
    expect(ground.open()?.text).toContain("2 events for you since 0: docs exited, fix turn-completed.");
    const third = await ground.happen("fix", turnCompleted);
    await ground.settled();
    await ground.settle("delivered");
    await ground.settled();
    await ground.settle("delivered");
    expect(await ground.sent()).toEqual([
      { since: 0, through: second, count: 2 },
      { since: second, through: third, count: 1 },
    ]);
  });

  test("that waits is taken back when the session is busy again, and told later with the rest", async () => {
    ground = await makeWakerGround(["fix"]);
    await ground.happen("fix", turnCompleted);
    await ground.settled();
    const id = ground.open()?.id ?? "";
    await ground.setBusy(true);
    await ground.settled();
    expect(ground.store.mailbox.get(id)).toMatchObject({ state: "refused" });
    const last = await ground.happen("fix", exited);
    await ground.setBusy(false);
    await ground.settled();
    await ground.settle("delivered");
    expect(await ground.sent()).toEqual([{ since: 0, through: last, count: 2 }]);
  });

  test("is not sent for what the session did itself, or asked not to hear of", async () => {
    ground = await makeWakerGround(["fix"]);
    await ground.happen("fix", { ...exited, askedBy: callerName({ kind: "session", id: "boss" }) });
    await ground.settled();
    expect(ground.open()).toBeUndefined();
    const seq = await ground.happen("fix", { ...exited, askedBy: "operator" });
    await ground.settled();
    expect(ground.boss().wakes.open).toMatchObject({ through: seq, count: 1 });
  });

  test("is not sent where wakes are switched off", async () => {
    ground = await makeWakerGround(["fix"], false);
    await ground.happen("fix", exited);
    await ground.settled();
    await ground.restart();
    await ground.settled();
    expect(ground.open()).toBeUndefined();
  });
});

describe("never stale", () => {
  test("what the session learnt from a wait is not told, and a wake that waits with it is withdrawn", async () => {
    ground = await makeWakerGround(["fix", "docs"]);
    const [fix, docs] = [await ground.happen("fix", turnCompleted), await ground.happen("docs", turnCompleted)];
    await ground.settled();
    const id = ground.open()?.id ?? "";
    await ground.waker().tell("boss", [{ sessionId: "docs", through: docs }]);
    expect(ground.store.mailbox.get(id)).toMatchObject({ state: "refused" });
    // The other one is still to be told.
    await ground.settled();
    expect(ground.boss().wakes).toMatchObject({
      acknowledged: fix - 1,
      told: { docs },
      open: { through: fix, count: 1 },
    });
    await ground.waker().tell("boss", [{ sessionId: "fix", through: fix }]);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
    expect(ground.boss().wakes).toMatchObject({ told: {}, open: null });
    expect(ground.boss().wakes.acknowledged).toBeGreaterThanOrEqual(docs);
    expect(await ground.sent()).toEqual([]);
  });

  test("a daemon that takes over with 900 events that were acknowledged sends none", async () => {
    ground = await makeWakerGround(["fix"]);
    await ground.setBusy(true);
    const seq = await ground.happen("fix", ...Array.from({ length: 900 }, () => turnCompleted));
    await ground.waker().tell("boss", [{ sessionId: null, through: seq }]);
    await ground.restart();
    await ground.setBusy(false);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
    expect(await ground.sent()).toEqual([]);
  });

  test("a daemon that takes over tells once what was committed and not told", async () => {
    ground = await makeWakerGround(["fix"]);
    await ground.setBusy(true);
    const seq = await ground.happen("fix", ...Array.from({ length: 900 }, () => turnCompleted));
    await ground.restart();
    await ground.setBusy(false);
    await ground.settled();
    await ground.settle("delivered");
    await ground.restart();
    await ground.settled();
    expect(await ground.sent()).toEqual([{ since: 0, through: seq, count: 900 }]);
    expect(ground.open()).toBeUndefined();
  });
});

describe("a receiver that cannot take one", () => {
  test.each(["pause", "end"] as const)("because of %s is not woken; one that goes on is, once", async (what) => {
    ground = await makeWakerGround(["fix"]);
    const isPause = what === "pause";
    await ground
      .ledger()
      .apply("boss", isPause ? { type: "pause", mode: "detach" } : { type: "end", graceMs: 5, afterTurn: false });
    const seq = await ground.happen("fix", turnCompleted, exited);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
    if (!isPause) return;
    await ground.ledger().apply("boss", { type: "resume" });
    await ground.settled();
    expect(ground.boss().wakes.open).toMatchObject({ through: seq, count: 2 });
  });

  test("because its screen was in the way is tried again, not at once", async () => {
    ground = await makeWakerGround(["fix"]);
    const seq = await ground.happen("fix", exited);
    await ground.settled();
    await ground.settle("refused");
    await ground.settled();
    expect(ground.open()).toBeUndefined();
    await ground.clock.advance(30_000);
    await ground.settled();
    expect(ground.boss().wakes.open).toMatchObject({ through: seq, count: 1 });
  });

  test("whose wake may have arrived is told again only if no turn began, and not a third time", async () => {
    ground = await makeWakerGround(["fix"]);
    const seq = await ground.happen("fix", exited);
    await ground.settled();
    await ground.settle("unknown");
    expect(ground.boss().wakes).toMatchObject({ acknowledged: 0, doubted: seq, open: null });
    await ground.clock.advance(31_000);
    await ground.settled();
    await ground.settle("unknown");
    expect(ground.boss().wakes).toMatchObject({ acknowledged: seq, open: null });

    const next = await ground.happen("fix", turnCompleted);
    await ground.clock.advance(31_000);
    await ground.settled();
    await ground.settle("leased");
    await ground.setBusy(true);
    await ground.settle("unknown");
    expect(ground.boss().wakes).toMatchObject({ acknowledged: next, open: null });
  });

  test("has a wake that somebody cancelled: that one is not sent again", async () => {
    ground = await makeWakerGround(["fix"]);
    const seq = await ground.happen("fix", exited);
    await ground.settled();
    const message = ground.open();
    if (message === undefined) throw new Error("there is no wake");
    await ground.ledger().withdraw(message, { caller: { kind: "operator" } });
    await ground.clock.advance(60_000);
    expect(ground.open()).toBeUndefined();
    expect(ground.boss().wakes).toMatchObject({ acknowledged: seq, open: null });
    expect(await ground.sent()).toEqual([]);
  });
});

test("a session that is parked is woken when it may go again, for all of it at once", async () => {
  const wanted: string[] = [];
  let isHeld = true;
  ground = await makeWakerGround(["fix"], true, { isHeld: () => isHeld, want: (id) => void wanted.push(id) });
  await ground.happen("fix", turnCompleted);
  await ground.settled();
  await ground.happen("fix", exited);
  await ground.settled();
  expect(ground.open()).toBeUndefined();
  expect(new Set(wanted)).toEqual(new Set(["boss"]));
  isHeld = false;
  ground.waker().poke("boss");
  await ground.settled();
  expect(ground.boss().wakes.open).toMatchObject({ count: 2 });
});
