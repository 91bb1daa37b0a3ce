import { describe, expect, it } from "vitest";
import { eventLines } from "./event-text.ts";
import { localTime } from "../../platform/local-time.ts";

/** In the zone of whoever runs this. */
const noon = new Date(2026, 10, 15, 12, 0, 5);
const lines = (hasColour = false, width: number | null = null) =>
  eventLines([{ session_id: "abc", name: "builder" }], {
    hasColour,
    now: () => new Date(2026, 10, 15, 18),
    width,
  });
const event = (
  type: string,
  data: Record<string, unknown>,
  caller: string | null = null,
  id: string | null = "abc",
) => ({
  seq: 1,
  at: noon.toISOString(),
  session_id: id,
  caller,
  type,
  data,
});

describe("events for people", () => {
  it.each([
    ["approval-requested", { approval: { id: "1", title: "Run: ls" } }, "asks: Run: ls"],
    ["approval-answer-requested", { approval_id: "turn-1", decision: "denied" }, "will be answered: denied"],
    [
      "approval-settled",
      { title: "Run: ls", decision: "approved", by: "pane" },
      "approved by somebody in its terminal: Run: ls",
    ],
    ["approval-settled", { title: "Run: ls", decision: null, by: "agent" }, "is no longer asked by the agent: Run: ls"],
    [
      "turn-disputed",
      { turn: 3, counted: "completed", counted_source: "hook", other: "failed", evidence: { source: "transcript" } },
      "turn 3 completed by hook, but failed by transcript; the first counts",
    ],
    [
      "turn-corrected",
      { turn: 3, verdict: "completed", was: "interrupted", was_source: "screen", evidence: { source: "hook" } },
      "turn 3 completed by hook, not interrupted as concluded from screen",
    ],
    ["turn-failed", { turn: 3, error: "rain" }, "turn 3 failed: rain"],
    ["turn-completed", { turn: 3 }, "turn 3 completed"],
    [
      "activity-changed",
      { activity: { status: "awaiting-input", asks: "Trust it?" } },
      "asks for something: Trust it?",
    ],
    ["from-a-later-version", {}, "from-a-later-version"],
  ])("tell of %s with %j", (type, data, sentence) => {
    expect(lines().line(event(type, data))).toBe(`12:00:05  builder   ${sentence}\n`);
  });

  it.each([
    ["inbox-opened", { title: 'builder asks: Run "ls"?' }, 'needs you: it asks: Run "ls"?'],
    ["inbox-acknowledged", {}, "an item of the inbox was acknowledged"],
    ["worktree-kept", { path: "/w/a", why: "Untracked: a." }, "its worktree /w/a is kept: Untracked: a."],
  ])("tell of %s with %j", (type, data, sentence) => {
    expect(lines().line(event(type, data))).toBe(`12:00:05  builder   ${sentence}\n`);
  });

  it("tell of the home in whole sentences, with local times", () => {
    const of = (type: string, data: Record<string, unknown>): string =>
      lines()
        .line(event(type, data, null, null))
        .slice("12:00:05  (daemon)  ".length);
    const full = "The disk that holds /home is full: 0 B left";
    expect(of("inbox-opened", { title: full })).toBe(`needs you: ${full}\n`);
    const until = { limit: "primary", account: "codex work", sessions: 1, until_at: noon.toISOString() };
    expect(of("quota-parked", { ...until, confidence: "stated" })).toMatch(
      /^the limit primary of codex work is reached; it resets at .*12:00:05; 1 session on that account\n$/,
    );
    expect(of("quota-parked", { ...until, limit: "unnamed", sessions: 2, confidence: "none" })).toMatch(
      /^a usage limit of codex work is reached; Reeve tries again at .*12:00:05; 2 sessions on that account\n$/,
    );
    expect(of("inbox-snoozed", { until_at: noon.toISOString() })).toMatch(
      /^an item of the inbox was put off until .*12:00:05\n$/,
    );
  });

  it.each([
    ["operator", "the operator"],
    ["session:boss", "session boss"],
    ["system", "Reeve itself"],
  ])("say that %s asked", (caller, words) => {
    expect(lines().line(event("end-requested", {}, caller))).toBe(`12:00:05  builder   will be ended (by ${words})\n`);
  });

  it("name sessions, also those that came or were renamed since, and the daemon", () => {
    const { line } = lines();
    expect(line(event("session-planned", { name: "new", agent: "codex", role: "agent" }, null, "xyz"))).toContain(
      "  new  ",
    );
    expect(line(event("turn-started", { turn: 1 }, null, "xyz"))).toBe("12:00:05  new       turn 1 began\n");
    line(event("session-renamed", { from: "new", name: "newer" }, null, "xyz"));
    expect(line(event("turn-started", { turn: 2 }, null, "xyz"))).toBe("12:00:05  newer     turn 2 began\n");
    expect(line(event("daemon-stopped", { pid: 7 }, null, null))).toBe("12:00:05  (daemon)  stopped: process 7\n");
    expect(line(event("turn-started", { turn: 1 }, null, "unknown"))).toContain("  unknown   turn 1");
  });

  it("colour what went wrong, and let no escape sequence through", () => {
    const line = lines(true).line(event("turn-failed", { turn: 1, error: "\u001B[2Jbad\nworse" }));
    expect(line).toBe(
      "\u001B[2m12:00:05\u001B[0m  \u001B[1mbuilder\u001B[0m   \u001B[31mturn 1 failed: bad worse\u001B[0m\n",
    );
  });

  it("are broken between words on a terminal, below where they began", () => {
    const failed = event("turn-failed", { turn: 1, error: "the server answered 429 too often" });
    expect(lines(false, 50).line(failed)).toBe(
      "12:00:05  builder   turn 1 failed: the server\n                    answered 429 too often\n",
    );
    expect(lines(true, 50).line(failed)).toContain(
      "\u001B[31mturn 1 failed: the server\u001B[0m\n                    \u001B[31manswered",
    );
  });

  it("give the date of another day", () => {
    expect(localTime(noon, new Date(2026, 10, 16))).toBe("2026-11-15 12:00:05");
  });
});
