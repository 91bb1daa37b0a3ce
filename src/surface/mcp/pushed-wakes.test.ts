import { expect, test } from "vitest";
import { PushedWakes } from "./pushed-wakes.ts";

const started = (id: string, cursor = 1) => ["startSession", {}, { session_id: id, name: `n-${id}`, cursor }] as const;
const event = (seq: number, id: string | null, type: string, data = {}) => ({ seq, session_id: id, type, data });

test("only sessions that were started here wake, and only for what ends a wait", () => {
  const wakes = new PushedWakes();
  expect(wakes.answered(...started("a", 4))).toBe(4);
  expect(wakes.heard(event(5, "other", "turn-completed"))).toBe(false);
  expect(wakes.heard(event(6, null, "daemon-started"))).toBe(false);
  expect(wakes.heard(event(7, "a", "activity-changed"))).toBe(false);
  expect(wakes.take()).toBeNull();
  expect(wakes.heard(event(8, "a", "session-exited"))).toBe(true);
  expect(wakes.take()).toMatchObject({ cursor: 8, count: 1, content: expect.stringContaining("n-a exited") as string });
  expect(wakes.take()).toBeNull();
});

test("one that hangs wakes like one that stalled, one that is slow does not", () => {
  const wakes = new PushedWakes();
  wakes.answered(...started("a"));
  expect(wakes.heard(event(2, "a", "health-changed", { health: { verdict: "slow" } }))).toBe(false);
  expect(wakes.heard(event(3, "a", "health-changed", { health: { verdict: "hung" } }))).toBe(true);
  expect(wakes.take()?.content).toContain(": n-a stalled.");
});

test("a storm is one wake with its count, and of each session what happened last", () => {
  const wakes = new PushedWakes();
  wakes.answered(...started("a"));
  wakes.answered(...started("b"));
  for (let seq = 2; seq < 500; seq++) wakes.heard(event(seq, "a", "turn-completed"));
  wakes.heard(event(500, "b", "approval-requested"));
  wakes.heard(event(501, "a", "turn-failed"));
  const wake = wakes.take();
  expect(wake).toMatchObject({ cursor: 501, count: 500 });
  expect(wake?.content).toContain(": n-a turn-failed, n-b awaiting-approval.");
});

test("what an answer told is not told again, also if it was heard before", () => {
  const wakes = new PushedWakes();
  wakes.answered(...started("a"));
  wakes.heard(event(5, "a", "turn-completed"));
  wakes.answered("waitForSession", {}, { cursor: 6, woken: [{ session_id: "a" }] });
  expect(wakes.take()).toBeNull();
  expect(wakes.heard(event(6, "a", "turn-completed"))).toBe(false);
  expect(wakes.heard(event(7, "a", "turn-completed"))).toBe(true);
});

test.each(["n-a", "a1b2", "a1"])("whoever ends a session (%s) is not woken for its end", (reference) => {
  const wakes = new PushedWakes();
  wakes.answered("startSession", {}, { session_id: "a1b2", name: "n-a", cursor: 1 });
  wakes.heard(event(2, "a1b2", "turn-completed"));
  wakes.answered("endSession", { session: reference }, {});
  expect(wakes.heard(event(3, "a1b2", "session-exited"))).toBe(false);
  expect(wakes.take()).toBeNull();
});
