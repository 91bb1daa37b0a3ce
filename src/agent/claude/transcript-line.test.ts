import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../session/approval.ts";
import type { Reading } from "../../session/reading.ts";
import { knownWith } from "./known-fixture.ts";
import { recorded } from "./recorded-fixture.ts";
import { holdsMessage, readLine } from "./transcript-line.ts";

function asked(id: string): ApprovalRequest {
  return { id, kind: "command", title: "Run: touch b", subject: null, cwd: null, reason: null };
}

const AT = expect.any(Number) as number;

test("a real run: interruptions, denials, queued prompts, and each answer's usage once", () => {
  const told = recorded("transcript.jsonl").map((line) => readLine(line, knownWith({ approvals: [asked("2-ab")] })));
  const counted = told.filter((reading) => reading?.usage !== undefined);
  expect(told.filter((reading): reading is Reading => reading !== null && reading.usage === undefined)).toEqual([
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

test("what makes a transcript one that can be resumed (issue 7, 8)", () => {
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
