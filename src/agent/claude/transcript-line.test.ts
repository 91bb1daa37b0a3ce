import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../session/approval.ts";
import type { Reading } from "../../session/reading.ts";
import { REMINDER } from "../reminder.ts";
import { knownWith } from "./known-fixture.ts";
import { recorded } from "./recorded-fixture.ts";
import { holdsMessage, readLine } from "./transcript-line.ts";

function asked(id: string): ApprovalRequest {
  return { id, kind: "command", title: "Run: touch b", subject: null, cwd: null, reason: null };
}

const AT = expect.any(Number) as number;

function withoutSetup({ setup: _setup, ...reading }: Reading): Reading {
  return reading;
}

test("a real run: the mode of every prompt, and the model of every answer", () => {
  const told = recorded("transcript.jsonl").flatMap((line) => readLine(line, knownWith({}))?.setup ?? []);
  const models = new Set(told.map(({ model }) => model));
  expect([...models]).toEqual([undefined, "claude-opus-5-5"]);
  expect([...new Set(told.map(({ mode }) => mode))]).toEqual(["default", undefined]);
  expect(recorded("failures-transcript.jsonl").flatMap((line) => readLine(line, knownWith({}))?.setup ?? [])).toEqual(
    [],
  );
});

test("a compaction, with its time", () => {
  const line = { type: "system", subtype: "compact_boundary", timestamp: "2026-11-17T04:00:00.000Z" };
  expect(readLine(JSON.stringify(line), knownWith({}))).toEqual({
    source: "transcript",
    detail: "compact_boundary line",
    compacted: { at: Date.parse(line.timestamp) },
  });
});

test("a real run: interruptions, denials, queued prompts, and each answer's usage once", () => {
  const told = recorded("transcript.jsonl")
    .map((line) => readLine(line, knownWith({ approvals: [asked("2-ab")] })))
    .filter((reading) => reading !== null)
    .map(withoutSetup)
    .filter((reading) => Object.keys(reading).length > 2);
  const counted = told.filter((reading) => reading?.usage !== undefined);
  expect(told.filter(({ usage }) => usage === undefined)).toEqual([
    {
      source: "transcript",
      detail: "request interrupted line",
      activity: "idle",
      turn: { phase: "interrupted", id: "518b63e1-cd3e-4c9a-97e9-fada3d6daea4", at: AT },
    },
    {
      source: "transcript",
      detail: "tool use rejected line",
      approval: { settled: { id: "2-ab", decision: "denied" } },
    },
    {
      source: "transcript",
      detail: "request interrupted line",
      activity: "idle",
      turn: { phase: "interrupted", id: "82a99fde-74e5-4bb9-ae27-bc3fde89337d", at: AT },
    },
    {
      source: "transcript",
      detail: "queued prompt line",
      activity: "working",
      turn: {
        phase: "started",
        id: "7ecfda5b-c834-41ed-acb9-d8bc618dd9aa",
        at: AT,
        prompt: "And then this. ~reply Second.",
      },
    },
  ]);
  expect(counted).toEqual(
    counted.map((reading) => ({
      source: "transcript",
      detail: "assistant line",
      usage: {
        kind: "added",
        usage: {
          inputTokens: 150,
          cachedInputTokens: 30,
          outputTokens: reading?.usage?.usage.outputTokens,
          costUsd: null,
        },
      },
    })),
  );
  expect(counted.map((reading) => reading?.usage?.usage.outputTokens)).toEqual([
    17, 1, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17,
  ]);
});

test("a denial is of the main agent's question", () => {
  const line = JSON.stringify({ type: "user", toolDenialKind: "user-rejected" });
  const approvals = [asked("1-subagent-cd"), asked("2-ab")];
  expect(readLine(line, knownWith({ approvals }))?.approval).toEqual({ settled: { id: "2-ab", decision: "denied" } });
  expect(readLine(line, knownWith({ approvals: approvals.slice(0, 1) }))).toBe(null);
});

test("a Stop hook of the user's own makes it go on, and only Claude Code itself says so", () => {
  const line = {
    type: "user",
    promptId: "e1404cca-6835-4d55-8996-1a364706700c",
    message: { role: "user", content: "Stop hook feedback:\nRun the tests first." },
    isMeta: true,
    timestamp: "2026-11-18T06:10:05.114Z",
  };
  expect(readLine(JSON.stringify(line), knownWith({}))).toEqual({
    source: "transcript",
    detail: "Stop hook feedback line",
    activity: "working",
    turn: { phase: "started", id: line.promptId, at: Date.parse(line.timestamp), prolongs: true },
  });
  expect(readLine(JSON.stringify({ ...line, isMeta: false }), knownWith({}))).toBe(null);
  // The stop that Reeve's own hook answered with a reminder was told to nobody.
  const reminded = { ...line, message: { role: "user", content: `Stop hook feedback:\n${REMINDER}` } };
  expect(readLine(JSON.stringify(reminded), knownWith({}))).toBe(null);
});

test("no line makes it throw", () => {
  const type = fc.constantFrom("user", "assistant", "attachment", "system");
  const field = fc.constantFrom(
    "message",
    "attachment",
    "promptId",
    "promptSource",
    "apiBlockIndex",
    "isMeta",
    "timestamp",
  );
  const line = fc
    .tuple(type, fc.dictionary(field, fc.jsonValue()))
    .map(([type, fields]) => JSON.stringify({ ...fields, type }));
  const message = fc
    .jsonValue()
    .map((content) => JSON.stringify({ type: "assistant", message: { content }, apiBlockIndex: 0 }));
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.json(), line, message)), (lines) => {
      for (const one of lines) readLine(one, knownWith({}));
    }),
  );
});

test("what makes a transcript one that can be resumed", () => {
  const line = (fields: object): string => JSON.stringify({ parentUuid: null, isSidechain: false, ...fields });
  expect(holdsMessage(line({ type: "user", message: { role: "user", content: "hi" } }))).toBe(true);
  expect(holdsMessage(line({ type: "assistant", message: {} }))).toBe(true);
  for (const other of [
    line({ type: "user", isMeta: true }),
    line({ type: "user", isSidechain: true }),
    line({ type: "permission-mode", note: { type: "user" } }),
    line({ type: "user" }).slice(0, -2),
  ])
    expect(holdsMessage(other)).toBe(false);
});

test("a call in the background is over when the agent was told of it in a turn, or has stopped it", () => {
  const known = knownWith({
    background: [{ id: "k4ot7", kind: "command", title: "MCP task reeve/wait_for_session", holds: true }],
  });
  const said = (content: string) => ({ type: "user", message: { role: "user", content } });
  const announced = said("It was moved to the background as task k4ot7 and keeps running on the server.");
  const queued = { type: "queue-operation", operation: "enqueue", content: "<task-id>k4ot7</task-id>" };
  for (const line of [announced, queued, said("another")]) expect(readLine(JSON.stringify(line), known)).toBeNull();
  const prompt = "<task-notification>\n<task-id>k4ot7</task-id>";
  const told = { type: "attachment", attachment: { type: "queued_command", prompt } };
  for (const line of [told, said("Successfully stopped task: k4ot7")])
    expect(readLine(JSON.stringify(line), known)).toEqual({
      source: "transcript",
      detail: "task notification line",
      background: { ended: ["k4ot7"] },
    });
});
