import { expect, test } from "vitest";
import { geminiAgent } from "./gemini-agent.ts";
import { knownWith } from "./known-under-test.ts";

test("a message is pasted, and sent after a pause", () => {
  expect(geminiAgent.encode({ text: "a\nb", submit: true })).toEqual([
    { type: "paste", text: "a\nb" },
    { type: "pause", ms: 200 },
    { type: "key", key: "Enter" },
  ]);
  expect(geminiAgent.encode({ text: "", submit: true })).toEqual([{ type: "key", key: "Enter" }]);
  expect(geminiAgent.encode({ text: "a\\", submit: true })[0]).toEqual({ type: "paste", text: "a\\ " });
  // On its first line, Enter would take what the list of commands offers.
  expect(geminiAgent.encode({ text: "/quit", submit: true })[0]).toEqual({ type: "paste", text: "/quit\n" });
  expect(geminiAgent.encode({ text: "a", submit: false })).toEqual([{ type: "paste", text: "a" }]);
});

test("the transcript is looked for by the first digits of its id", () => {
  expect(geminiAgent.searchTranscript(knownWith({}))).toEqual({
    root: "/home/user/.gemini/tmp",
    depth: 3,
    suffix: "-fbf73c74.jsonl",
  });
  expect(geminiAgent.searchTranscript(knownWith({ nativeId: null }))).toBeNull();
});

test.each([
  ["0.61.0\n", "0.61.0"],
  ["Warning: something 1.2.3 here\n0.62.0-preview.1\n", "0.62.0-preview.1"],
  ["gemini: not found", null],
])("the version in %j", (output, version) => {
  expect(geminiAgent.program?.readVersion(output)).toBe(version);
});
