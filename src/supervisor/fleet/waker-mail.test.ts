/** A session is woken for its mail as for what happens to the sessions it started. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { exited, makeWakerGround, type WakerGround } from "./waker-fixture.ts";

let ground: WakerGround;
beforeEach(async () => void (ground = await makeWakerGround(["fix"])));
afterEach(() => ground.dispose());

const counts = async (): Promise<readonly number[]> => (await ground.sent()).map(({ count }) => count);

test("mail and events are one wake, with how many of the mails are hand-offs", async () => {
  await ground.mail("mail-1", "note");
  await ground.mail("mail-2", "hand-off");
  await ground.happen("fix", exited);
  await ground.settled();
  expect(ground.open()?.text).toContain("1 event for you since 0: fix exited; 2 unread mails for you (1 hand-off). ");
  await ground.settle("delivered");
  await ground.settled();
  await ground.restart();
  await ground.settled();
  expect(ground.open()).toBeUndefined();
  expect(await counts()).toEqual([3]);
});

test("what was read meanwhile does not wake", async () => {
  await ground.setBusy(true);
  await ground.mail("mail-1", "note");
  await ground.mail("mail-2", "hand-off");
  await ground.readMail("mail-2");
  await ground.setBusy(false);
  await ground.settled();
  expect(ground.open()?.text).toContain(": 1 unread mail for you. Not from your user. Truth: reeve mail check, ");
  await ground.settle("delivered");
  await ground.mail("mail-3", "note");
  await ground.readMail("mail-3");
  await ground.settled();
  expect(ground.open()).toBeUndefined();
});

test("a wait, and an acknowledgement of events, say nothing of mail", async () => {
  await ground.setBusy(true);
  const seq = await ground.happen("fix", exited);
  await ground.mail("mail-1", "hand-off");
  await ground.waker().tell("boss", [{ sessionId: null, through: seq + 1 }]);
  await ground.restart();
  await ground.setBusy(false);
  await ground.settled();
  expect(ground.boss().wakes.open).toMatchObject({ count: 1 });
  expect(ground.open()?.text).toContain(": 1 unread mail for you (1 hand-off). ");
  await ground.settle("delivered");
  await ground.restart();
  await ground.settled();
  expect(ground.open()).toBeUndefined();
});

test("after a restart of the receiver an unread hand-off wakes once more, a note does not", async () => {
  await ground.mail("mail-1", "note");
  await ground.mail("mail-2", "hand-off");
  await ground.settled();
  await ground.settle("delivered");
  await ground.rebirth();
  await ground.settled();
  expect(ground.boss().wakes.open).toMatchObject({ count: 1 });
  expect(ground.open()?.text).toContain(": 1 unread mail for you (1 hand-off). ");
  await ground.settle("delivered");
  await ground.settled();
  await ground.restart();
  await ground.settled();
  expect(await counts()).toEqual([2, 1]);
  await ground.readMail("mail-2");
  await ground.rebirth();
  await ground.settled();
  expect(ground.open()).toBeUndefined();
});
