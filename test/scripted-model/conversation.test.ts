import { expect, test } from "vitest";
import { lastTyped, typedText } from "./conversation.ts";

test.each([
  ["codex 0.166.0 environment", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"],
  ["codex 0.166.0 interruption", "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"],
  ["codex 0.166.0 after compaction", "Another language model started to solve this problem and produced a summary"],
  ["claude 2.1.325 reminder", "<system-reminder>\nAttribution for git commits\n</system-reminder>\n"],
  ["claude 2.1.325 interruption", "[Request interrupted by user]\n"],
  ["claude 2.1.325 after compaction", "This session is being continued from a previous conversation that ran out"],
  ["claude 2.1.325 slash command", "<command-name>/compact</command-name>"],
  ["gemini 0.61.0 context", "<session_context>\nThis is the Gemini CLI.\n</session_context>"],
])("%s was not typed by the person", (_, text) => {
  expect(typedText(text)).toBe("");
});

test("claude 2.1.325: what was typed while a turn ran is taken out of its frame", () => {
  const text =
    "The user sent a new message while you were working:\nqueued [[say yes]]\nsecond line\n\n" +
    "This is how Claude Code surfaces messages the user sends mid-turn.";
  expect(typedText(text)).toBe("queued [[say yes]]\nsecond line");
});

test("of several texts in one message the newest typed one counts", () => {
  expect(
    lastTyped([
      "interrupted prompt",
      "[Request interrupted by user]\n",
      "next",
      "<system-reminder>x</system-reminder>",
    ]),
  ).toBe("next");
});
