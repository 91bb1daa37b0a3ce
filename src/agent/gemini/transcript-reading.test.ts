import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../session/approval.ts";
import { knownWith } from "./known-under-test.ts";
import { readLine } from "./transcript-reading.ts";

const LINES = readFileSync(new URL("../../../test/golden/gemini/0.61.0/transcript.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

const APPROVAL: ApprovalRequest = {
  id: "permission-1",
  kind: "command",
  title: "Run touch made.txt",
  subject: "touch made.txt",
  cwd: "/home/user/work/proj",
  reason: null,
};

function lineWith(text: string): string {
  const line = LINES.find((candidate) => candidate.includes(text));
  if (line === undefined) throw new Error(`no line with ${text}`);
  return line;
}

test("prompts are never a beginning: an old one may have been written again", () => {
  expect(LINES.filter((line) => readLine(line, knownWith({}))?.turn?.phase === "started")).toEqual([]);
});

test("every answer is counted once, though its line comes twice and its history again", () => {
  const usages = LINES.flatMap((line) => readLine(line, knownWith({}))?.usage?.usage.inputTokens ?? []);
  expect(usages).toEqual([7726, 7746, 7760, 7755]);
});

test("a compression by itself is told; the note of /compress and a history that is written again prove none", () => {
  const at = "2026-11-17T18:43:32.059Z";
  const note = (content: string): string => JSON.stringify({ id: "n", timestamp: at, type: "info", content });
  expect(readLine(note("Context compressed from 91% to 12%."), knownWith({}))).toEqual({
    source: "transcript",
    detail: "info line about a compression",
    compacted: { at: Date.parse(at) },
  });
  const snapshot = { id: "s", timestamp: at, type: "user", content: [{ text: "<state_snapshot>…</state_snapshot>" }] };
  const again = JSON.stringify({ $set: { messages: [snapshot] } });
  expect([note(""), note("Context compressed"), again].map((line) => readLine(line, knownWith({})))).toEqual([
    null,
    null,
    null,
  ]);
});

test("a cancelled turn is interrupted, by whoever sees it first", () => {
  const line = lineWith("Request cancelled.");
  expect(readLine(line, knownWith({}))).toEqual({
    source: "transcript",
    detail: '"Request cancelled." line',
    activity: "idle",
    turn: { phase: "interrupted", at: Date.parse(String((JSON.parse(line) as { timestamp?: string }).timestamp)) },
  });
  expect(readLine(line, knownWith({ turnOpen: false }))).toBeNull();
});

test("a turn cancelled with a question open leaves no question open", () => {
  expect(readLine(lineWith("Request cancelled."), knownWith({ approvals: [APPROVAL] }))?.approval).toEqual({
    settled: { id: null, decision: null },
  });
});

test("a tool that ran was approved, one that was cancelled was refused", () => {
  const ran = lineWith('"status":"success"');
  const refused = lineWith('"status":"cancelled"');
  expect(readLine(ran, knownWith({ approvals: [APPROVAL] }))).toEqual({
    source: "transcript",
    detail: "tool call line, success",
    approval: { settled: { id: "permission-1", decision: "approved" } },
    setup: { model: "gemini-3.8-flash", at: expect.any(Number) as number },
  });
  const second = { ...APPROVAL, id: "permission-2", subject: "touch never.txt" };
  expect(readLine(refused, knownWith({ approvals: [second] }))?.approval).toEqual({
    settled: { id: "permission-2", decision: "denied" },
  });
  expect(readLine(ran, knownWith({ approvals: [second] }))?.approval).toBeUndefined();
});

test("a tool of an MCP server is known by the names of both", () => {
  const line = JSON.stringify({
    id: "m",
    timestamp: "2026-11-17T04:00:00.000Z",
    type: "gemini",
    content: "",
    toolCalls: [{ id: "c", name: "mcp_reeve_start_session", args: { agent: "codex" }, status: "success" }],
  });
  const asked = (subject: string) => knownWith({ approvals: [{ ...APPROVAL, kind: "tool", subject }] });
  expect(readLine(line, asked("start_session of reeve"))?.approval).toEqual({
    settled: { id: "permission-1", decision: "approved" },
  });
  expect(readLine(line, asked("end_session of reeve"))).toBeNull();
});

test("nothing makes it throw", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => void readLine(line, knownWith({}))));
});
