import { expect, test } from "vitest";
import { claudeAgent } from "./claude-agent.ts";
import { knownWith } from "./known-fixture.ts";

test("the version as the program prints it", () => {
  expect(claudeAgent.program?.readVersion("2.1.325 (Claude Code)\n")).toBe("2.1.325");
  expect(claudeAgent.program?.readVersion("command not found")).toBe(null);
});

test("a transcript whose directory is not known is searched by its id", () => {
  const nativeId = "98ed8ad5-8412-4b99-986c-5801c754db11";
  expect(claudeAgent.searchTranscript(knownWith({ nativeId }))).toEqual({
    root: "/home/user/.claude/projects",
    depth: 2,
    suffix: `${nativeId}.jsonl`,
  });
  expect(claudeAgent.searchTranscript(knownWith({ nativeId: null }))).toBe(null);
});

test("typing is a message only where no dialog is open and no turn under way", () => {
  const activities = ["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"] as const;
  expect(activities.filter((activity) => claudeAgent.accepts(activity))).toEqual(["idle"]);
});
