import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TranscriptMessage } from "../contract.ts";
import { readMessages } from "./transcript-messages.ts";

const LINES = readFileSync(new URL("../../../test/golden/gemini/0.61.0/transcript.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

/** The parts that say what happened, without ids, moments and costs. */
function gist(messages: readonly TranscriptMessage[]): readonly string[] {
  return messages.map(({ role, text, tool }) => {
    const detail = tool === null ? text : `${tool.name} ${tool.input ?? text}${tool.isError ? " (error)" : ""}`;
    return `${role}: ${detail.replaceAll(/\s+/g, " ")}`;
  });
}

test("a turn with a tool: the call and its result once, though the file holds the message twice", () => {
  const messages = readMessages(LINES.slice(0, 11));
  expect(gist(messages)).toEqual([
    "user: [[shell touch made.txt]][[say It is made.]]",
    'assistant: run_shell_command {"command":"touch made.txt","description":"Scripted command"}',
    expect.stringMatching(/^tool: run_shell_command <untrusted_context> Output: \(empty\)/),
    "assistant: It is made.",
  ]);
  expect(messages.map((message) => message.usage)).toEqual([
    null,
    { inputTokens: 7726, cachedInputTokens: 0, outputTokens: 17, costUsd: null },
    null,
    { inputTokens: 7746, cachedInputTokens: 0, outputTokens: 4, costUsd: null },
  ]);
});

test("a refused approval is there until the history is written again without it", () => {
  expect(gist(readMessages(LINES.slice(0, 17))).slice(4)).toEqual([
    "user: [[shell touch never.txt]][[say unreached]]",
    'assistant: run_shell_command {"command":"touch never.txt","description":"Scripted command"}',
    expect.stringMatching(/^tool: run_shell_command .*\(error\)$/),
    "system: Request cancelled.",
  ]);
});

test("the whole file: written again, the history is without prompts that were cancelled or failed", () => {
  expect(gist(readMessages(LINES))).toEqual([
    "user: [[shell touch made.txt]][[say It is made.]]",
    'assistant: run_shell_command {"command":"touch made.txt","description":"Scripted command"}',
    expect.stringMatching(/^tool: run_shell_command <untrusted_context> Output: \(empty\)/),
    "assistant: It is made.",
    expect.stringMatching(/^system: \[API Error: /),
    expect.stringMatching(/^system: This request failed\./),
    "user: [[say All good.]] last",
    "assistant: All good.",
  ]);
});

test("what a compression puts in the place of the conversation was said by nobody", () => {
  const message = (id: string, type: string, text: string): object => ({ id, type, content: [{ text }] });
  const messages = [message("s", "user", "<state_snapshot>so far</state_snapshot>"), message("u", "user", "go on")];
  const told = readMessages([JSON.stringify({ $set: { messages } })]);
  expect(told.map(({ role, text }) => [role, text])).toEqual([
    ["system", "<state_snapshot>so far</state_snapshot>"],
    ["user", "go on"],
  ]);
});

test("a tail that begins in the middle", () => {
  expect(gist(readMessages(LINES.slice(-4)))).toEqual(["user: [[say All good.]] last", "assistant: All good."]);
});

test("a rewind removes the message and what follows it; one to an unknown message removes all", () => {
  const lines = ["a", "b", "c"].map((id) => JSON.stringify({ id, type: "user", content: id }));
  expect(gist(readMessages([...lines, '{"$rewindTo":"b"}']))).toEqual(["user: a"]);
  expect(gist(readMessages([...lines, '{"$rewindTo":"x"}']))).toEqual([]);
});

test("what was typed is shown, not what files named with @ made of it", () => {
  const content = [{ text: "read @a" }, { text: "--- content of a" }];
  const line = JSON.stringify({ id: "1", type: "user", content, displayContent: [{ text: "read @a" }] });
  expect(gist(readMessages([line]))).toEqual(["user: read @a"]);
});

test("nothing makes it throw", () => {
  fc.assert(fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (lines) => void readMessages(lines)));
  const record = fc.record(
    {
      id: fc.string(),
      type: fc.constantFrom("user", "gemini", "info", "error"),
      content: fc.jsonValue(),
      toolCalls: fc.jsonValue(),
      tokens: fc.jsonValue(),
      $set: fc.record({ messages: fc.jsonValue() }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(record), (records) => void readMessages(records.map((value) => JSON.stringify(value)))),
  );
});
