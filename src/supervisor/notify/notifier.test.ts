/** Notifications against real receivers on the loopback. */
import { createHmac } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endless, hangs, openReceiver, type Receiver, refuses } from "../../../test/support/receiver.ts";
import { channelOf, clearedBody, openedBody } from "../../fleet/notification-fixture.ts";
import type { NotificationChannel } from "../../fleet/notification-settings.ts";
import { makeNotifyGround, type NotifyGround } from "./notify-fixture.ts";

let ground: NotifyGround;
let receiver: Receiver;
beforeEach(async () => {
  ground = await makeNotifyGround();
  receiver = await openReceiver();
});
afterEach(async () => {
  await ground.dispose();
  await receiver.stop().catch(() => undefined);
});

const webhook = (wishes: Partial<NotificationChannel> = {}, url = receiver.url): NotificationChannel =>
  channelOf({ type: "webhook", address: { url }, secretFile: null }, wishes);
const ids = (): readonly unknown[] => receiver.received.map(({ json }) => json["id"]);
const gets = (count: number): Promise<void> =>
  ground.until(`${count} received`, () => receiver.received.length >= count);
const isDone = (channel = "webhook"): boolean =>
  ground
    .notifier()
    .views()
    .find((view) => view.channel.name === channel)?.pending === 0;
test("a webhook gets the item, signed", async () => {
  const secretFile = ground.file("secret", "shh\n");
  await ground.channels(channelOf({ type: "webhook", address: { url: `${receiver.url}/hook` }, secretFile }));
  await ground.happen(openedBody("a", { kind: "approval", urgency: "blocked", title: "May it?", text: "rm -rf /" }));
  await gets(1);
  const [got] = receiver.received;
  const session = { id: "s1", name: "fix", role: "builder" };
  expect(got?.json).toEqual({
    id: got?.headers["reeve-notification-id"],
    kind: "approval",
    urgency: "blocked",
    title: "fix: May it?",
    text: "rm -rf /",
    session,
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    count: 1,
    items: [{ id: "a", kind: "approval", urgency: "blocked", title: "May it?", session }],
  });
  expect(got?.path).toBe("/hook");
  const [, sentAt = "", signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(got?.headers["reeve-signature"])) ?? [];
  expect(signature).toBe(
    createHmac("sha256", "shh")
      .update(`${sentAt}.${got?.body ?? ""}`)
      .digest("hex"),
  );
  await ground.until("it is recorded", isDone);
  expect(await ground.outbox("webhook")).toMatchObject({ sending: null, lastFailure: null });
});

test("without a channel nothing is recorded, sent or kept", async () => {
  await ground.happen(openedBody("a"));
  await ground.pass(5_000);
  expect(ground.notifier().views()).toEqual([]);
  await ground.channels(webhook());
  expect(await ground.outbox("webhook")).toMatchObject({ cursor: 1 });
  await ground.channels();
  await ground.until("it is forgotten", () => true);
  await ground.pass(1_000);
  expect(await ground.outbox("webhook")).toBeUndefined();
});

test("several at once are one message that counts them", async () => {
  await ground.channels(webhook());
  await ground.happen(openedBody("a"), openedBody("b"));
  await ground.happen(openedBody("c"));
  await gets(1);
  expect(receiver.received[0]?.json).toMatchObject({ kind: "summary", count: 3, title: "3 things need you" });
  await ground.happen(openedBody("d"));
  await gets(2);
  expect(receiver.received[1]?.json).toMatchObject({ count: 1, items: [{ id: "d" }] });
});

test("a receiver that is down gets it when it is back, once, and what came meanwhile as one", async () => {
  await ground.channels(webhook());
  await receiver.stop();
  await ground.happen(openedBody("a"));
  await ground.until("it failed", () => ground.notifier().views()[0]?.failure !== null);
  expect(ground.notifier().views()[0]?.failure?.why).toMatch(/^it could not be reached \(connect ECONNREFUSED/);
  await ground.happen(openedBody("b"), openedBody("c"), clearedBody("c", "closed"), openedBody("d"));
  await ground.pass(30_000);
  await receiver.listen();
  await gets(2);
  await ground.until("nothing waits", isDone);
  await ground.pass(30_000);
  expect(receiver.received.map(({ json }) => json["count"])).toEqual([1, 2]);
  expect(ground.notifier().views()[0]).toMatchObject({ pending: 0, failure: null });
});

test("an answer of 500 is tried again under the same id; a redirect is not followed", async () => {
  await ground.channels(webhook());
  receiver.answer(refuses);
  await ground.happen(openedBody("a"));
  await gets(2);
  receiver.answer((response) => void response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end());
  await gets(4);
  expect(ground.notifier().views()[0]?.failure?.why).toMatch(/^it answered (500|302, a redirect)/);
  receiver.answer((response) => void response.writeHead(200).end());
  const before = receiver.received.length;
  await gets(before + 1);
  await ground.until("nothing waits", isDone);
  expect(new Set(ids()).size).toBe(1);
  expect(receiver.received.every(({ path }) => path === "/")).toBe(true);
});

test("what was closed before a retry is not sent again", async () => {
  await ground.channels(webhook());
  receiver.answer(refuses);
  await ground.happen(openedBody("a"));
  await gets(1);
  await ground.happen(clearedBody("a", "acknowledged"));
  await ground.until("nothing waits", isDone);
  await ground.pass(10_000);
  expect(receiver.received.length).toBeLessThanOrEqual(2);
});

test("a receiver that hangs is given up after ten seconds, and holds up no other channel", async () => {
  const other = await openReceiver();
  try {
    await ground.channels(webhook(), webhook({ name: "other" }, other.url));
    receiver.answer(hangs);
    await ground.happen(openedBody("a"));
    await ground.until("the other has it", () => other.received.length === 1);
    await gets(1);
    expect(ground.notifier().views()[0]).toMatchObject({ pending: 1, failure: null });
    await ground.timeOut();
    await gets(2);
    expect(ground.notifier().views()[0]?.failure?.why).toBe("it did not answer within 10 s");
    receiver.answer((response) => void response.end());
    await ground.timeOut();
    await ground.until("nothing waits", isDone);
    expect(new Set(ids()).size).toBe(1);
    expect(other.received).toHaveLength(1);
  } finally {
    await other.stop();
  }
});

test("a slow answer of eleven seconds comes too late; one without end is not read", async () => {
  await ground.channels(webhook());
  const slow: (() => void)[] = [];
  receiver.answer((response) => void slow.push(() => response.end()));
  await ground.happen(openedBody("a"));
  await gets(1);
  await ground.timeOut();
  for (const answer of slow) answer();
  await ground.until("it failed", () => ground.notifier().views()[0]?.failure !== null);
  receiver.answer(endless);
  await ground.until("nothing waits", isDone);
  expect(ground.notifier().views()[0]).toMatchObject({ failure: null });
});

test("a daemon that goes on sends what was begun, under the same id, and nothing twice", async () => {
  await ground.channels(webhook());
  receiver.answer(hangs);
  await ground.happen(openedBody("a"));
  await gets(1);
  // Its successor finds the intent without the fact.
  receiver.answer((response) => void response.end());
  await ground.channels(webhook());
  await gets(2);
  await ground.until("nothing waits", isDone);
  expect(new Set(ids()).size).toBe(1);
  await ground.channels(webhook());
  await ground.pass(30_000);
  expect(receiver.received).toHaveLength(2);
});

test("given up after a day, with an event", async () => {
  await ground.channels(webhook());
  receiver.answer(refuses);
  await ground.happen(openedBody("a"));
  await gets(1);
  ground.clock.jump(86_400_000);
  await ground.until("given up", isDone);
  const events = await ground.store.log.read({ after: 0, limit: 10, types: ["notification-abandoned"] });
  expect(events.map(({ body }) => body)).toMatchObject([
    { channel: "webhook", notificationId: ids()[0], count: 1, why: "it answered 500" },
  ]);
  receiver.answer((response) => void response.end());
  await ground.happen(openedBody("b"));
  await ground.until("the next one", () => receiver.received.at(-1)?.json["title"] === "fix: b failed");
});

test("a role can be muted, and quiet hours hold back what they should", async () => {
  // The test clock begins at 00:16:40 in UTC.
  const quiet = { from: 0, to: 60, zone: "UTC" };
  await ground.channels(
    webhook({ name: "muted", mutedRoles: ["builder"] }),
    webhook({ name: "quiet", quiet, quietExcept: ["blocked"] }),
  );
  await ground.happen(openedBody("a"), openedBody("b"), openedBody("now", { urgency: "blocked" }));
  await gets(1);
  expect(receiver.received[0]?.json).toMatchObject({ count: 1, items: [{ id: "now" }] });
  expect(ground.notifier().views()).toMatchObject([{ pending: 0 }, { pending: 2, nextAt: 3_600_000 }]);
  ground.clock.jump(3_600_000);
  await gets(2);
  expect(receiver.received[1]?.json).toMatchObject({ count: 2, items: [{ id: "a" }, { id: "b" }] });
});

test("a file that holds a secret, and is not there, fails that channel only", async () => {
  const urlFile = ground.file("url", `${receiver.url}/secret-path\n`);
  await ground.channels(
    channelOf({ type: "webhook", address: { url: receiver.url }, secretFile: "~/missing" }),
    channelOf({ type: "slack", address: { file: urlFile } }),
  );
  const tested = await ground.notifier().test(null);
  expect(tested.map(({ isSent, what }) => ({ isSent, what }))).toEqual([
    { isSent: false, what: "secret_file ~/missing does not exist" },
    { isSent: true, what: "it answered 204" },
  ]);
  ground.file("url", "nowhere");
  expect(await ground.notifier().test("slack")).toMatchObject([
    { isSent: false, what: `url_file ${urlFile} does not hold an http or https address` },
  ]);
  await expect(ground.notifier().test("pigeon")).rejects.toMatchObject({ code: "unknown-channel" });
});
