import { expect, test } from "vitest";
import { viewEvent } from "../../operation/read-events.ts";
import type { EventBody } from "../../session/event.ts";
import type { Evidence } from "../../session/session.ts";
import type { WakeReason } from "../../session/wake.ts";
import { PushedWakes } from "./pushed-wakes.ts";

const started = (id: string, cursor = 1) => ["startSession", {}, { session_id: id, name: `n-${id}`, cursor }] as const;
const event = (seq: number, id: string | null, wake?: WakeReason) => ({
  seq,
  session_id: id,
  ...(wake === undefined ? {} : { wake }),
});

test("only sessions that were started here wake, and only for what ends a wait", () => {
  const wakes = new PushedWakes();
  expect(wakes.answered(...started("a", 4))).toBe(4);
  expect(wakes.heard(event(5, "other", "turn-completed"))).toBe(false);
  expect(wakes.heard(event(6, null))).toBe(false);
  expect(wakes.heard(event(7, "a"))).toBe(false);
  expect(wakes.take()).toBeNull();
  expect(wakes.heard(event(8, "a", "exited"))).toBe(true);
  expect(wakes.take()).toMatchObject({ cursor: 8, count: 1, content: expect.stringContaining("n-a exited") as string });
  expect(wakes.take()).toBeNull();
});

const evidence: Evidence = { source: "hook", detail: "", at: 1 };
const reason = { code: "asked", text: "Asked.", evidence };
const approval = { id: "p", kind: "command", title: "rm", subject: null, cwd: null, reason: null } as const;
const waits = { status: "awaiting-input", asks: null, evidence } as const;

test.each<[string, object, string | null]>([
  ["an agent that asks for input", { type: "activity-changed", from: "working", activity: waits }, "awaiting-input"],
  ["the same question in other words", { type: "activity-changed", activity: waits, isReworded: true }, null],
  ["a start that failed", { type: "session-errored", reason }, "exited"],
  ["a death that was told already", { type: "session-errored", reason, isAfterExit: true }, null],
  ["a correction", { type: "turn-corrected", turn: 1, verdict: "failed", evidence }, "turn-failed"],
  ["a question", { type: "approval-requested", approval, evidence }, "awaiting-approval"],
  ["one that takes the place of another", { type: "approval-requested", approval, replaces: "o", evidence }, null],
  ["one that a rule answers", { type: "approval-requested", approval, rule: "r", evidence }, null],
  ["one that hangs", { type: "health-changed", health: { verdict: "hung", sinceAt: 1, evidence } }, "stalled"],
  ["one that is slow", { type: "health-changed", health: { verdict: "slow", sinceAt: 1, evidence } }, null],
])("what wakes is what ends a wait: %s", (_what, body, told) => {
  const wakes = new PushedWakes();
  wakes.answered(...started("a"));
  const heard = wakes.heard(viewEvent({ seq: 2, at: 1, sessionId: "a", caller: null, body: body as EventBody }));
  expect([heard, wakes.take()?.content.includes(`: n-a ${String(told)}.`) ?? null]).toEqual(
    told === null ? [false, null] : [true, true],
  );
});

test("a storm is one wake with its count, and of each session what happened last", () => {
  const wakes = new PushedWakes();
  wakes.answered(...started("a"));
  wakes.answered(...started("b"));
  for (let seq = 2; seq < 500; seq++) wakes.heard(event(seq, "a", "turn-completed"));
  wakes.heard(event(500, "b", "awaiting-approval"));
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
  expect(wakes.heard(event(3, "a1b2", "exited"))).toBe(false);
  expect(wakes.take()).toBeNull();
});
