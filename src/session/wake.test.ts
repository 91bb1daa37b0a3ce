import { describe, expect, test } from "vitest";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { exitedWith, read, run, runningSession, types } from "./run-inputs.ts";
import type { Evidence } from "./session.ts";
import { evidence, place, plannedSession } from "./session-fixture.ts";
import { wakeReasonOf, type WakeReason } from "./wake.ts";

const started = read({ turn: { phase: "started", id: "a" } });
const completed = read({ turn: { phase: "completed", id: "a" } });
const stalled: Input = { type: "stalled", incarnation: 1, evidence };
const ask: Input = read({
  approval: { requested: { id: "p", kind: "command", title: "Run rm?", subject: null, cwd: null, reason: null } },
});

/** Every reason for waking that a run gives, in order. */
function wakes(...inputs: readonly Input[]): readonly WakeReason[] {
  return reasonsOf(run(runningSession(), ...inputs).events);
}

function reasonsOf(events: readonly SessionEvent[]): readonly WakeReason[] {
  return events.flatMap((body, seq) => wakeReasonOf({ seq, at: 0, sessionId: "abc", caller: null, body }) ?? []);
}

test("one that hangs wakes like one that stalled; slow, and going on, do not", () => {
  const seen = (verdict: "healthy" | "slow" | "hung"): Input => ({
    type: "examined",
    incarnation: 1,
    pulse: { verdict, evidence },
  });
  expect(wakes(started, seen("slow"), seen("hung"), seen("hung"), seen("healthy"))).toEqual(["stalled"]);
});

describe("a stall", () => {
  test("is told once per turn, of a turn under way that works", () => {
    const { session, events } = run(runningSession(), started, stalled, stalled);
    expect(types(events).filter((type) => type === "session-stalled")).toHaveLength(1);
    expect(session.conversation.stalledAt).toBe(evidence.at);
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
    expect(run(runningSession(), started, stalled, completed).session.conversation.stalledAt).toBeNull();
    expect(wakes(started, stalled, completed, ...again)).toEqual(["stalled", "turn-completed", "stalled"]);
    expect(wakes(started, stalled, ...again)).toEqual(["stalled", "turn-interrupted", "stalled"]);
  });

  test("is over with the process", () => {
    expect(run(runningSession(), started, stalled, exitedWith(1)).session.conversation.stalledAt).toBeNull();
  });
});

describe("what ends a wait", () => {
  test.each<[readonly Input[], readonly WakeReason[]]>([
    [[started, completed], ["turn-completed"]],
    [[started, read({ turn: { phase: "interrupted" } })], ["turn-interrupted"]],
    [[started, read({ turn: { phase: "failed", error: "429" } })], ["turn-failed"]],
    [[started, ask], ["awaiting-approval"]],
    [[started, read({ activity: "awaiting-input", asks: "?" })], ["awaiting-input"]],
    [[exitedWith(0)], ["exited"]],
    [[started, read({ transcript: "observable", nativeId: "n" })], []],
    [[{ type: "found-unreachable", incarnation: 1, asked: place, evidence }], []],
  ])("%j", (inputs, reasons) => {
    expect(wakes(...inputs)).toEqual(reasons);
  });
});

describe("each fact wakes once", () => {
  const input = (source: Evidence["source"], asks: string): Input => read({ source, activity: "awaiting-input", asks });
  const approval = (id: string): Input =>
    read({ approval: { requested: { id, kind: "command", title: id, subject: null, cwd: null, reason: null } } });
  const end: Input = { type: "end", graceMs: 0, afterTurn: false };
  const cleared: Input = { type: "cleared", incarnation: 1, isPlaceGone: true, evidence };

  test.each<[string, readonly Input[], readonly WakeReason[]]>([
    ["a question that several sources tell of", [started, ask, ask, seen("rm")], ["awaiting-approval"]],
    ["a question that is seen after it was told", [started, ask, seenFirst()], ["awaiting-approval"]],
    ["a question that was seen before it was told", [started, seenFirst(), ask], ["awaiting-approval"]],
    ["two questions", [started, approval("p"), approval("q")], ["awaiting-approval", "awaiting-approval"]],
    [
      "the second of them, once the first is settled",
      [started, approval("p"), approval("q"), read({ approval: { settled: { id: "p", decision: "approved" } } })],
      ["awaiting-approval", "awaiting-approval"],
    ],
    [
      "a dialog in the words of three",
      [input("screen", "a"), input("hook", "b"), input("screen", "c")],
      ["awaiting-input"],
    ],
    ["a dialog, then another", [input("screen", "a"), input("screen", "b")], ["awaiting-input", "awaiting-input"]],
    ["a death", [started, exitedWith(1)], ["exited"]],
    ["a death, and the end that follows", [exitedWith(1), end, cleared], ["exited"]],
    ["an end on request", [end, exitedWith(0), cleared], ["exited"]],
    ["an end on request whose exit nobody saw", [end, cleared], ["exited"]],
  ])("%s", (_what, inputs, reasons) => {
    expect(wakes(...inputs)).toEqual(reasons);
  });

  test("a correction wakes with what is right", () => {
    const guess = read({ source: "screen", turn: { phase: "interrupted" } });
    expect(wakes(started, guess, completed)).toEqual(["turn-interrupted", "turn-completed"]);
  });

  test("a start that failed, and the end that follows", () => {
    const failed: Input = { type: "create-failed", incarnation: 1, code: "no", evidence };
    const { events } = run(plannedSession(), failed, end, cleared);
    expect(reasonsOf(events)).toEqual(["exited"]);
  });

  test("an end before anything was started", () => {
    expect(reasonsOf(run(plannedSession(), end, cleared).events)).toEqual(["exited"]);
  });

  test("the question that came takes the place of what was seen of it", () => {
    const { session, events } = run(runningSession(), started, seenFirst(), ask);
    expect(session.conversation.approvals).toMatchObject([{ id: "p", title: "Run rm?" }]);
    expect(session.conversation.activity).toMatchObject({ status: "awaiting-approval", asks: "Run rm?" });
    expect(types(events).filter((type) => type.startsWith("approval-"))).toEqual([
      "approval-requested",
      "approval-settled",
      "approval-requested",
    ]);
  });

  test("when the first of two questions is settled the second is what is asked", () => {
    const settled = read({ approval: { settled: { id: "p", decision: "approved" } } });
    const { session } = run(runningSession(), started, approval("p"), approval("q"), settled);
    expect(session.conversation.activity).toMatchObject({ status: "awaiting-approval", asks: "q" });
  });

  test("the agent's own words stay, and take the place of a screen's", () => {
    const asks = (...inputs: readonly Input[]): string | null =>
      run(runningSession(), ...inputs).session.conversation.activity.asks;
    expect(asks(input("screen", "a"), input("hook", "b"))).toBe("b");
    expect(asks(input("hook", "b"), input("screen", "c"))).toBe("b");
  });
});

/** As settleSoft makes it of a dialog on the screen that nothing has told of. */
function seenFirst(): Input {
  const requested = { id: "seen-1", kind: "other", title: "rm", subject: null, cwd: null, reason: null } as const;
  return read({ source: "screen", activity: "awaiting-approval", asks: "rm", approval: { requested } });
}

function seen(asks: string): Input {
  return read({ source: "screen", activity: "awaiting-approval", asks });
}
