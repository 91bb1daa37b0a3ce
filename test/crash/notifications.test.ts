/**
 * kill -9 of the daemon between the intent to notify and the fact: the receiver has each at least once, always under the same id,
 * and twice only where the daemon died after it was sent.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let receiver: Receiver;
let count = 0;
beforeAll(async () => {
  receiver = await openReceiver();
  home = createTestHome();
  home.configure(`[[notify]]\ntype = "webhook"\nurl = "${receiver.url}"\n`);
  await home.json("daemon", "start");
});
afterAll(async () => {
  await home.dispose();
  await receiver.stop();
});

const about = (name: string): readonly Received[] =>
  receiver.received.filter(({ json }) => (json["session"] as { name: string } | null)?.name === name);
const pending = async (): Promise<number | undefined> =>
  (await home.json<{ channels: { pending: number }[] }>("notify", "list")).channels[0]?.pending;

test.each([
  ["notify.before-intent", 1],
  ["notify.after-intent", 1],
  ["notify.after-send", 2],
])("killed at %s: delivered, under one id", async (point, times) => {
  const name = `failing-${++count}`;
  await crashingAt(home, point, async () => {
    await home.run(["start", "command", "--name", name, "--", "sh", "-c", "exit 3"]);
  });
  await eventually("it is delivered", () => about(name).length >= times);
  await eventually("nothing is left to send", async () => (await pending()) === 0);
  expect(about(name).map(({ json }) => json["kind"])).toEqual(Array.from({ length: times }, () => "failure"));
  expect(new Set(about(name).map(({ headers }) => headers["reeve-notification-id"])).size).toBe(1);
  await expectEventLogComplete(home);
});
