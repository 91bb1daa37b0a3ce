import { describe, expect, it } from "vitest";
import { lineOf } from "./events.ts";

const line = (type: string, data: Record<string, unknown>, caller: string | null = null): string =>
  lineOf({ seq: 1, at: "2026-11-15T12:00:00.000Z", session_id: "abc", caller, type, data });

describe("lineOf", () => {
  it.each([
    ["approval-requested", { approval: { id: "1", title: "Run: ls" } }, "Run: ls"],
    ["approval-answer-requested", { approval_id: "turn-1", decision: "denied" }, "denied: turn-1"],
    ["approval-settled", { title: "Run: ls", decision: "approved", by: "pane" }, "approved by pane: Run: ls"],
    ["approval-settled", { title: "Run: ls", decision: null, by: "agent" }, "answered unseen by agent: Run: ls"],
    [
      "turn-disputed",
      { turn: 3, counted: "completed", counted_source: "hook", other: "failed", evidence: { source: "transcript" } },
      "completed by hook, but failed by transcript",
    ],
    [
      "turn-corrected",
      { turn: 3, verdict: "completed", was: "interrupted", was_source: "screen", evidence: { source: "hook" } },
      "completed by hook, not interrupted as inferred from screen",
    ],
    ["turn-failed", { turn: 3, error: "rain" }, "error rain"],
    ["turn-completed", { turn: 3 }, "turn 3"],
  ])("tells of %s with %j", (type, data, sentence) => {
    expect(line(type, data)).toBe(`1  2026-11-15T12:00:00.000Z  abc  ${type}  ${sentence}\n`);
  });

  it.each([
    ["operator", "the operator"],
    ["session:boss", "session boss"],
    ["system", "Reeve itself"],
  ])("says that %s asked (issue 8, 1)", (caller, words) => {
    expect(line("end-requested", { reason: { text: "Ended on request." } }, caller)).toBe(
      `1  2026-11-15T12:00:00.000Z  abc  end-requested  Ended on request. (by ${words})\n`,
    );
  });
});
