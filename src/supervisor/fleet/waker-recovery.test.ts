/** A session that was restarted in the middle of a turn is told so once. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WAKE_HORIZON_MS } from "../../fleet/due-wake.ts";
import { putSession } from "../../store/change.ts";
import { nextRevision } from "../../store/store-fixture.ts";
import { exited, makeWakerGround, turnCompleted, type WakerGround } from "./waker-fixture.ts";

let ground: WakerGround;
beforeEach(async () => void (ground = await makeWakerGround(["fix"])));
afterEach(() => ground.dispose());

/** Its process ended, in this turn or in none, and it was started again: by Reeve, unless somebody asked for it. */
async function reborn(cutTurn: number | null, by: "reeve" | "somebody" = "reeve"): Promise<void> {
  await ground.ledger().commitFor("boss", (session) => {
    const { incarnation } = session.process;
    const cutShort = cutTurn === null ? null : { turn: cutTurn, incarnation, at: 1 };
    const automatic = { at: 1, boot: "", upMs: 1, cause: "own" as const, isOvercome: false };
    const restart = { recent: by === "reeve" ? [automatic] : [] };
    const changes = {
      process: { incarnation: incarnation + 1, restart: { ...session.process.restart, ...restart } },
      conversation: { cutShort },
    };
    return { changes: [putSession(nextRevision(session, changes))] };
  });
}

test("once for each restart, whatever becomes of the daemon", async () => {
  await reborn(1);
  await ground.settled();
  expect(ground.open()?.text).toContain("you were restarted in the middle of turn 1, look before you go on. ");
  await ground.restart();
  await ground.settled();
  await ground.settle("delivered");
  await ground.settled();
  await ground.restart();
  await ground.settled();
  expect(ground.open()).toBeUndefined();
  expect(ground.boss().wakes).toMatchObject({ recovered: 2, acknowledged: 0 });
  await reborn(1);
  await ground.settled();
  expect(ground.open()?.text).toContain("you were restarted ");
});

test("not if somebody asked for the restart", async () => {
  await reborn(1, "somebody");
  await ground.settled();
  expect(ground.open()).toBeUndefined();
});

test("with the events and mails that wait, as one wake", async () => {
  await ground.mail("mail-1", "hand-off");
  await ground.happen("fix", exited);
  await reborn(1);
  await ground.settled();
  expect(ground.open()?.text).toMatch(
    /you were restarted .*; 1 event for you .*; 1 unread mail for you \(1 hand-off\)/,
  );
  await ground.settle("delivered");
  await ground.settled();
  expect(ground.open()).toBeUndefined();
  expect(await ground.sent()).toMatchObject([{ count: 2 }]);
});

test("if nobody knows whether it arrived, it is not told again; the events are", async () => {
  await ground.happen("fix", exited);
  await reborn(1);
  await ground.settled();
  await ground.settle("unknown");
  await ground.clock.advance(31_000);
  await ground.settled();
  expect(ground.open()?.text).toContain(": 1 event for you ");
  expect(ground.open()?.text).not.toContain("restarted");
});

describe("it is not told", () => {
  test("if no turn was under way", async () => {
    await reborn(null);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
  });

  test("if something else was begun since", async () => {
    await ground.setBusy(true);
    await reborn(1);
    await ground.setBusy(false);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
  });

  test("where that is switched off", async () => {
    await ground.dispose();
    ground = await makeWakerGround(["fix"], true, undefined, false);
    await reborn(1);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
  });
});

describe("what is old", () => {
  test("begins no turn, and is not in the count of the next wake; a hand-off has no age", async () => {
    await ground.setBusy(true);
    await ground.happen("fix", turnCompleted);
    await ground.mail("mail-1", "note");
    await ground.clock.advance(WAKE_HORIZON_MS + 1);
    await ground.setBusy(false);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
    // Forgotten it is not.
    expect((await ground.waker().due(ground.boss())).events).toHaveLength(1);
    const seq = await ground.happen("fix", exited);
    await ground.settled();
    expect(ground.boss().wakes.open).toMatchObject({ count: 1, through: seq });
    expect(ground.open()?.text).toContain("1 event for you since 0: fix exited. ");
    await ground.settle("delivered");
    await ground.settled();
    expect((await ground.waker().due(ground.boss())).events).toEqual([]);
    await ground.setBusy(true);
    await ground.mail("mail-2", "hand-off");
    await ground.clock.advance(WAKE_HORIZON_MS + 1);
    await ground.setBusy(false);
    await ground.settled();
    expect(ground.open()?.text).toContain("1 unread mail for you (1 hand-off). ");
  });
});
