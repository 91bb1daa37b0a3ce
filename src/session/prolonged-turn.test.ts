/** A turn whose end the user's own Stop hook blocks: the agent goes on, and is not idle meanwhile. */
import { expect, test } from "vitest";
import type { Input } from "./input.ts";
import { read, run, runningSession } from "./run-inputs.ts";
import { started, turnsOf } from "./turn-fixture.ts";

/** As Claude Code tells them: each stop by its hook, and that it went on by its transcript, all under one id. */
const stop = read({ turn: { phase: "completed", id: "a" }, activity: "idle" });
const goesOn = read({
  source: "transcript",
  turn: { phase: "started", id: "a", prolongs: true },
  activity: "working",
});

const after = (...inputs: readonly Input[]) => {
  const { session, events } = run(runningSession(), started("hook", "a"), ...inputs);
  const { turnOpen, activity } = session.conversation;
  return { isOpen: turnOpen, activity: activity.status, told: turnsOf(events) };
};

const ONE = ["turn-started 1", "turn-completed 1"];
const TWO = [...ONE, "turn-started 2", "turn-completed 2"];

test("it is another turn, and works, until it stops again", () => {
  expect(after(stop)).toEqual({ isOpen: false, activity: "idle", told: ONE });
  expect(after(stop, goesOn)).toEqual({ isOpen: true, activity: "working", told: [...ONE, "turn-started 2"] });
  expect(after(stop, goesOn, stop)).toEqual({ isOpen: false, activity: "idle", told: TWO });
  expect(after(stop, goesOn, stop, goesOn, stop).told).toEqual([...TWO, "turn-started 3", "turn-completed 3"]);
});

test("that it goes on is read first: the stop before that ends nothing", () => {
  expect(after(goesOn)).toMatchObject({ isOpen: true, told: ["turn-started 1"] });
  expect(after(goesOn, stop)).toEqual({ isOpen: true, activity: "working", told: ["turn-started 1"] });
  expect(after(goesOn, stop, stop)).toEqual({ isOpen: false, activity: "idle", told: ONE });
});

test("both stops are read first: it is over", () => {
  expect(after(stop, stop, goesOn)).toEqual({ isOpen: false, activity: "idle", told: ONE });
  expect(after(stop, stop, goesOn, goesOn)).toMatchObject({ isOpen: true });
});

test("one that was interrupted, or is not the last, does not go on", () => {
  const interrupted = read({ turn: { phase: "interrupted", id: "a" }, activity: "idle" });
  expect(after(interrupted, goesOn)).toMatchObject({ isOpen: false, activity: "idle" });
  const next = [started("hook", "b"), read({ turn: { phase: "completed", id: "b" }, activity: "idle" })];
  expect(after(stop, ...next, goesOn)).toMatchObject({ isOpen: false, activity: "idle" });
});

test("of a conversation that is continued, what was before the session counts for nothing", () => {
  const earlier = read({ source: "transcript", turn: { phase: "started", id: "a", prolongs: true, at: 0 } });
  expect(after(stop, earlier)).toEqual({ isOpen: false, activity: "idle", told: ONE });
});
