import { describe, expect, test } from "vitest";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { exitedWith, read, run, runningSession, types } from "./run-inputs.ts";
import { evidence, plannedSession } from "./session-fixture.ts";
import { standingWake, wakeReasonOf, type WakeReason } from "./wake.ts";

const started = read({ turn: { phase: "started", id: "a" } });
const completed = read({ turn: { phase: "completed", id: "a" } });
const stalled: Input = { type: "stalled", incarnation: 1, evidence };
const ask: Input = read({
  approval: { requested: { id: "p", kind: "command", title: "Run rm?", subject: null, cwd: null, reason: null } },
});

/** Every reason for waking that a run gives, in order. */
function wakes(...inputs: readonly Input[]): readonly WakeReason[] {
  const { events } = run(runningSession(), ...inputs);
  return events.flatMap((body: SessionEvent, seq) => wakeReasonOf({ seq, at: 0, sessionId: "abc", body }) ?? []);
}

const standing = (...inputs: readonly Input[]): WakeReason | null =>
  standingWake(run(runningSession(), ...inputs).session);

describe("a stall", () => {
  test("is told once per turn, of a turn under way that works", () => {
    const { session, events } = run(runningSession(), started, stalled, stalled);
    expect(types(events).filter((type) => type === "session-stalled")).toHaveLength(1);
    expect(session.stalledAt).toBe(evidence.at);
    expect(wakes(started, stalled, stalled)).toEqual(["stalled"]);
  });

  test.each<[string, readonly Input[]]>([
    ["before a turn", []],
    ["after a turn", [started, completed]],
    ["while it asks", [started, ask]],
    ["while it waits for input", [started, read({ activity: "awaiting-input" })]],
    ["after the exit", [started, exitedWith(0)]],
  ])("is none %s", (_what, inputs) => {
    const before = run(runningSession(), ...inputs).session;
    expect(run(before, stalled)).toEqual({ session: before, events: [] });
  });

  test("is over with the turn, and the next turn may stall again", () => {
    const again = [read({ turn: { phase: "started", id: "b" } }), stalled];
    expect(standing(started, stalled, completed)).toBeNull();
    expect(wakes(started, stalled, completed, ...again)).toEqual(["stalled", "turn-completed", "stalled"]);
    expect(wakes(started, stalled, ...again)).toEqual(["stalled", "turn-interrupted", "stalled"]);
  });

  test("is over with the process", () => {
    expect(run(runningSession(), started, stalled, exitedWith(1)).session.stalledAt).toBeNull();
  });
});

describe("what ends a wait", () => {
  test.each<[readonly Input[], readonly WakeReason[]]>([
    [[started, completed], ["turn-completed"]],
    [[started, read({ turn: { phase: "interrupted" } })], ["turn-interrupted"]],
    [[started, read({ turn: { phase: "failed", error: "429" } })], ["turn-failed"]],
    [[started, ask], ["awaiting-approval"]],
    [[started, read({ activity: "awaiting-input", asks: "?" })], ["awaiting-input"]],
    [[exitedWith(0)], ["exited", "exited"]],
    [[started, read({ transcript: "observable", nativeId: "n" })], []],
    [[{ type: "found-unreachable", incarnation: 1, evidence }], []],
  ])("%j", (inputs, reasons) => {
    expect(wakes(...inputs)).toEqual(reasons);
  });
});

describe("what stands without a cursor", () => {
  test.each<[string, readonly Input[], WakeReason | null]>([
    ["running", [], null],
    ["working", [started], null],
    ["a turn that is over", [started, completed], null],
    ["asking", [started, ask], "awaiting-approval"],
    ["waiting for input", [read({ activity: "awaiting-input" })], "awaiting-input"],
    ["stalled", [started, stalled], "stalled"],
    ["stalled, then asking: the question is what helps", [started, stalled, ask], "awaiting-approval"],
    ["dead", [exitedWith(1)], "exited"],
    ["dead, to be restarted on request", [{ type: "restart", graceMs: 0 }, exitedWith(1)], null],
    ["unreachable", [{ type: "found-unreachable", incarnation: 1, evidence }], null],
  ])("%s", (_what, inputs, reason) => {
    expect(standing(...inputs)).toBe(reason);
  });

  test("dead, and to be started again by policy: nothing yet", () => {
    const policy = { ...runningSession(), restartPolicy: "always" as const };
    expect(standingWake(run(policy, exitedWith(1)).session)).toBeNull();
    expect(standingWake(plannedSession())).toBeNull();
  });
});
