/**
 * An end that was only inferred (the next turn began before this
 * one's end was read) and is then told by the transcript. The record, an event
 * and every waiter say what is right.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { StandInCodex } from "../support/stand-in-codex.ts";
import { standInCodex } from "../support/stand-in-codex.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { keepWaiting } from "../support/wakes.ts";

let home: TestHome;
let codex: StandInCodex;
beforeAll(() => {
  home = createTestHome();
  codex = standInCodex(home);
  home.configure(codex.toml);
});
afterAll(() => home.dispose());

async function ended(): Promise<readonly EventRow[]> {
  const { events } = await home.json<{ events: EventRow[] }>("events", "talker");
  return events.filter((event) => event.type.startsWith("turn-") && event.type !== "turn-started");
}

const happened = (count: number): Promise<unknown> =>
  eventually(`${count} ends were told`, async () => (await ended()).length === count);

test("who was woken wrongly is woken again, who comes later is told what is right", async () => {
  await codex.start("talker");
  codex.event("task_started", { turn_id: "t1" });
  const early = keepWaiting(home, "talker");
  codex.hook("UserPromptSubmit", { turn_id: "t2", prompt: "more" });
  await happened(1);
  await eventually("he was woken", () => early.wakes.length === 1);
  codex.event("task_complete", { turn_id: "t1", last_agent_message: "gone" });
  await happened(2);
  codex.event("task_started", { turn_id: "t2" });
  codex.event("task_complete", { turn_id: "t2", last_agent_message: "gone again" });
  await happened(3);
  expect((await ended()).map(({ type, data }) => `${type} ${String(data["turn"])}`)).toEqual([
    "turn-interrupted 1",
    "turn-corrected 1",
    "turn-completed 2",
  ]);
  const reasons = (await early.leave()).map(({ reason }) => reason);
  expect(reasons).toEqual(["turn-interrupted", "turn-completed", "turn-completed"]);
  const late = await keepWaiting(home, "talker").leave();
  expect(late.map(({ reason }) => reason)).toEqual(["turn-completed", "turn-completed"]);
  const { disputes } = await home.json<{ disputes: readonly object[] }>("explain", "talker");
  expect(disputes).toMatchObject([{ turn: 1, counted: "completed (transcript)", other: "interrupted (hook)" }]);
});
