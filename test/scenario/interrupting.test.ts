/** An interrupt goes ahead of what waits and stops the turn under way when it was asked for, with a message or without. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { pressInPane, screenOf } from "../support/pane.ts";
import { operatorOf } from "../support/session-caller.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
let name = "";
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
beforeEach(() => {
  name = `busy-${++count}`;
});
afterAll(() => home.dispose());

async function startBusy(): Promise<void> {
  await home.json("start", "practice", "--name", name, "sleep 1000");
  await eventually("it works", async () => (await askSession(home, name))?.["activity"] === "working");
}

async function eventsOf(...types: readonly string[]): Promise<readonly EventRow[]> {
  const { events } = await home.json<{ events: EventRow[] }>("events", name);
  return events.filter(({ type }) => types.includes(type));
}

const turnEnds = async (): Promise<readonly unknown[]> =>
  (await eventsOf("turn-completed", "turn-interrupted", "turn-failed")).map(({ type, data }) => [type, data["turn"]]);

test("send --interrupt overtakes what is queued, which is sent afterwards and not interrupted", async () => {
  await startBusy();
  const queued = await home.json("send", name, "queued before", "--timeout", "0");
  const urgent = await home.json("send", name, "urgent", "--interrupt", "--timeout", "30");
  expect(urgent).toMatchObject({ state: "delivered" });
  await eventually("the queued one is done", async () => (await turnEnds()).length === 3);
  expect(await turnEnds()).toEqual([
    ["turn-interrupted", 1],
    ["turn-completed", 2],
    ["turn-completed", 3],
  ]);
  const delivered = (await eventsOf("message-delivered")).map(({ data }) => data["message_id"]);
  expect(delivered).toEqual([urgent["message_id"], queued["message_id"]]);
});

test("interrupt stops the turn and sends nothing; what waits is sent next", async () => {
  await startBusy();
  await home.json("send", name, "what waits", "--timeout", "0");
  const { status, stdout } = await home.run(["interrupt", name]);
  expect([status, stdout]).toEqual([0, expect.stringContaining(`${name} is running`)]);
  await eventually("what waits is done", async () => (await turnEnds()).length === 2);
  expect(await turnEnds()).toEqual([
    ["turn-interrupted", 1],
    ["turn-completed", 2],
  ]);
  expect(await eventsOf("interrupt-requested")).toMatchObject([{ caller: "operator", data: { turn: 1 } }]);
  expect(await eventsOf("turn-interrupted")).toMatchObject([{ data: { asked_by: "operator" } }]);
  expect(await home.json("interrupt", name)).toMatchObject({ done: true, note: "No turn was under way." });
});

test("send --interrupt behind a person's draft does not stop the turn of the draft", async () => {
  const { session_id: id } = await home.json("start", "practice", "--name", name);
  await eventually("it is idle", async () => (await askSession(home, name))?.["activity"] === "idle");
  await pressInPane(home, String(id), "sleep 2");
  await eventually("the draft stands there", async () => (await screenOf(home, String(id))).includes("sleep 2"));
  await home.json("send", name, "urgent", "--interrupt", "--timeout", "0");
  await pressInPane(home, String(id), "Enter");
  await eventually("both are done", async () => (await turnEnds()).length === 2);
  expect(await turnEnds()).toEqual([
    ["turn-completed", 1],
    ["turn-completed", 2],
  ]);
});

test("over the client it is the same, also for a daemon that dies before the key is pressed", async () => {
  await startBusy();
  home.failAt("interrupt.before-keys");
  home.expectDeath(await home.daemonPid());
  const operator = operatorOf(home, { enduranceMs: 60_000 });
  expect(await operator.interruptSession({ session: name })).toMatchObject({ done: true });
  expect(home.isFailpointArmed()).toBe(false);
  expect(await turnEnds()).toEqual([["turn-interrupted", 1]]);
  expect(await eventsOf("interrupt-requested")).toHaveLength(1);
});

test("what cannot be interrupted says so, and how it is stopped", async () => {
  await home.json("start", "command", "--name", name, "--", "sleep", "1000");
  const { status, stdout } = await home.run(["interrupt", name, "--json"]);
  expect([status, JSON.parse(stdout)]).toMatchObject([2, { error: { code: "interrupt-unsupported" } }]);
});
