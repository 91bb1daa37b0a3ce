import { describe, expect, it } from "vitest";
import { ago, asking, dead, NOW, session, working } from "./board-fixture.ts";
import { allRows } from "./model.ts";
import { summaryParts } from "./need.ts";
import type { Ranked } from "./need.ts";
import { rowOf } from "./row.ts";

const order = (...sessions: readonly Ranked[]): readonly string[] =>
  allRows({ foreign: [], sessions: new Map(sessions.map((one) => [one.session_id, one])) }).map(({ name }) => name);

describe("the order of the board", () => {
  it("is blocked, failed, finished and unseen, working, idle", () => {
    const all = [
      session("idle"),
      working("works"),
      session("done", { unseen: true }),
      dead("died"),
      asking("asks"),
      session("stuck", { turn_open: true, activity: "working", stalled_since: ago(400) }),
      session("turn-failed", { last_turn: "failed", last_turn_error: "429" }),
    ];
    expect(order(...all)).toEqual(["stuck", "asks", "turn-failed", "died", "done", "works", "idle"]);
    expect(summaryParts(all.map(rowOf)).map(({ text }) => text)).toEqual([
      "2 need you",
      "1 finished",
      "1 working",
      "1 idle",
      "2 failed",
    ]);
  });

  it("puts who waits the longest first, and otherwise goes by name", () => {
    expect(order(asking("new", 5), asking("old", 500), session("b"), session("a"))).toEqual(["old", "new", "a", "b"]);
  });
});

describe("a row", () => {
  it.each([
    [asking("x", 30), { word: "asks", line: "Run x.sh?", need: "blocked" }],
    [working("x"), { word: "working", line: "", need: "working" }],
    [dead("x"), { word: "failed", line: "Its process exited with status 70.", need: "failed", since: NOW - 90_000 }],
    [session("x"), { word: "idle", line: "", since: NOW - 30_000 }],
    [session("x", { headline: "All 12 tests pass." }), { word: "idle", line: "All 12 tests pass." }],
    [session("x", { activity: "unknown", started_at: ago(60) }), { word: "running", since: NOW - 60_000 }],
    [session("x", { state: "paused" }), { word: "paused", need: "idle" }],
    [session("x", { liveness: "unreachable" }), { word: "unreachable" }],
    [session("x", { desired: "stopped" }), { word: "ending", need: "working" }],
    [session("x", { asks: "\u001B[2J\u202Eevil\nmore", activity: "awaiting-input" }), { line: "<U+202E>evil more" }],
  ])("says what matters (%#)", (shown, row) => {
    expect(rowOf(shown)).toMatchObject(row);
  });
});
