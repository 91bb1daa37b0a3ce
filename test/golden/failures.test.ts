/**
 * What the real agents reported when the scripted model refused them, source by
 * source, and what their adapters make of it: the kind of the failure, and the
 * limit. `<agent>/<version>/failures-<source>.jsonl` are
 * their own records; screens are in golden.test.ts.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeKnown } from "../../src/agent/agent-fixture.ts";
import { readHook as claudeHook } from "../../src/agent/claude/hook-record.ts";
import { readLine as claudeLine } from "../../src/agent/claude/transcript-line.ts";
import { createLimitReader } from "../../src/agent/codex/limit-reader.ts";
import { readRolloutLine } from "../../src/agent/codex/rollout-line.ts";
import { createThreadReader } from "../../src/agent/codex/thread-reader.ts";
import { failureOf as geminiFailure, limitsIn as geminiLimits } from "../../src/agent/gemini/failure-of.ts";
import { readHook as geminiHook } from "../../src/agent/gemini/hook-record.ts";
import { fieldsOf, parseFields } from "../../src/platform/json-fields.ts";
import type { Reading } from "../../src/session/reading.ts";

// Recorded in UTC: a clock without a zone is that of the machine.
const zone = process.env["TZ"];
beforeAll(() => {
  process.env["TZ"] = "UTC";
});
afterAll(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

function linesOf(path: string): readonly string[] {
  return readFileSync(join(import.meta.dirname, path), "utf8")
    .trim()
    .split("\n");
}

/** "quota-exhausted", "limit primary rejected 100% stated 2026-11-17T08:14:12Z" */
function said(reading: Reading | null): readonly string[] {
  const { turn, limits = [] } = reading ?? {};
  return [
    ...(turn?.phase === "failed" ? [turn.failure ?? "no kind"] : turn?.phase === "completed" ? ["completed"] : []),
    ...limits.map(({ limit, status, usedPercent, confidence, resetsAt, resumesItself }) =>
      [
        `limit ${limit} ${status}`,
        usedPercent === null ? [] : `${usedPercent}%`,
        confidence,
        resetsAt === null ? [] : new Date(resetsAt).toISOString().replace(".000Z", "Z"),
        resumesItself === true ? "resumes itself" : [],
      ]
        .flat()
        .join(" "),
    ),
  ];
}

test("codex, the app-server's messages", () => {
  const told: Reading[] = [];
  const messages = linesOf("codex/0.166.0/failures-protocol.jsonl").map((line) => fieldsOf(parseFields(line)));
  const thread = messages.map(({ params }) => fieldsOf(params)["threadId"]).find((id) => typeof id === "string");
  const turns = createThreadReader(String(thread), (reading) => told.push(reading));
  const limits = createLimitReader((reading) => told.push(reading));
  for (const { method, params, emittedAtMs } of messages) {
    limits.readNotification(String(method), fieldsOf(params), Number(emittedAtMs));
    turns.readNotification(String(method), fieldsOf(params));
  }
  expect(told.flatMap(said)).toEqual([
    "limit primary warning 83% stated 2026-11-17T09:14:12Z",
    "completed",
    "limit primary rejected 100% stated 2026-11-17T08:14:18Z",
    "quota-exhausted",
    // Codex waits for this one by itself, and what the model then says of limits is an answer.
    "limit requests rejected derived 2026-11-17T08:14:24.026Z resumes itself",
    "completed",
    "billing",
    "billing",
    "not-logged-in",
    "context-full",
    "model-error",
    "limit requests rejected none",
    "rate-limit",
    "model-error",
    "network",
  ]);
  turns.close();
});

test("codex, lines of the rollout", () => {
  const lines = linesOf("codex/0.166.0/failures-rollout.jsonl");
  expect(lines.flatMap((line) => said(readRolloutLine(line, makeKnown({ version: "0.166.0" }))))).toEqual([
    "limit primary warning 83% stated 2026-11-17T09:14:12Z",
    "completed",
    "limit primary rejected 100% stated 2026-11-17T08:14:18Z",
    "quota-exhausted",
    "limit primary rejected derived 2026-11-17T08:15:00Z",
    "completed",
    "billing",
    "billing",
    "not-logged-in",
    "context-full",
    "model-error",
    "rate-limit",
    "limit requests rejected none",
    "model-error",
    "network",
  ]);
});

test("claude, StopFailure hooks: they tell no time", () => {
  const lines = linesOf("claude/2.1.325/failures-hooks.jsonl");
  expect(lines.map((line) => said(claudeHook(JSON.parse(line), makeKnown())))).toEqual([
    ["quota-exhausted", "limit usage rejected 100% none"],
    ["rate-limit", "limit requests rejected none"],
    ["quota-exhausted", "limit usage rejected 100% none"],
    ["billing"],
    ["not-logged-in"],
    ["context-full"],
    ["model-error"],
    ["network"],
    ["not-logged-in"],
    ["network"],
  ]);
});

test("claude, lines of the transcript: with a plan they state the reset, and that it continues by itself", () => {
  const lines = linesOf("claude/2.1.325/failures-transcript.jsonl");
  expect(lines.flatMap((line) => said(claudeLine(line, makeKnown())))).toEqual([
    "limit usage rejected 100% stated 2026-11-17T07:52:00Z",
    "limit usage rejected 100% derived 2026-11-17T07:53:00Z resumes itself",
    // With an API key.
    "limit requests rejected none",
    "limit usage rejected 100% derived 2026-12-01T00:01:00Z",
  ]);
});

test("claude: an answer that quotes a limit is an answer", () => {
  const [limit = "", notice = ""] = linesOf("claude/2.1.325/failures-transcript.jsonl");
  for (const mark of ["isApiErrorMessage", "error"]) {
    const { [mark]: _mark, ...quoted } = fieldsOf(parseFields(limit));
    expect(claudeLine(JSON.stringify(quoted), makeKnown())).toBeNull();
  }
  const side = { ...fieldsOf(parseFields(limit)), isSidechain: true };
  expect(claudeLine(JSON.stringify(side), makeKnown())).toBeNull();
  const said = { ...fieldsOf(parseFields(notice)), type: "assistant", message: { content: "Usage limit reached" } };
  expect(claudeLine(JSON.stringify(said), makeKnown())).toBeNull();
});

test("gemini, the notes behind a failed turn", () => {
  const kinds = linesOf("gemini/0.61.0/failures-transcript.jsonl").map((line) => {
    const hook = { hook_event_name: "AfterAgent", session_id: "s", timestamp: "2026-11-17T08:00:00Z" };
    return said(geminiHook({ hook, notes: [JSON.parse(line)] }, makeKnown({ nativeId: "s", turnOpen: true })));
  });
  expect(kinds).toEqual([["not-logged-in"], ["context-full"]]);
});

const at = Date.parse("2026-11-17T08:00:00Z");
const model = { quotaDimensions: { model: "gemini-2.5-pro" } };
function refusal(code: number, message: string, ...details: readonly object[]): string {
  return `[API Error: ${JSON.stringify({ error: { code, message, details } })}]`;
}
const quota = (quotaId: string) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaId, ...model }],
});
const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.07s" };

test.each([
  [refusal(429, "slow", quota("RequestsPerMinute"), retry), "rate-limit", "gemini-2.5-pro rejected stated 34070"],
  [
    refusal(429, "out", quota("RequestsPerDayPerModel"), retry),
    "quota-exhausted",
    "gemini-2.5-pro per day rejected none",
  ],
  [refusal(429, "Please retry in 900ms."), "rate-limit", "requests rejected derived 900"],
  [
    "[API Error: You have exhausted your daily quota on this model.]",
    "quota-exhausted",
    "requests per day rejected none",
  ],
  [refusal(503, "The model is overloaded. Please try again later."), "model-error", null],
  [refusal(403, "forbidden"), "not-logged-in", null],
  [refusal(429, "Your prepayment credits are depleted."), "billing", null],
  ["[API Error: exception TypeError: fetch failed sending request]", "network", null],
  ["[API Error: something new]", "unknown", null],
])("gemini, %s", (content, kind, limit) => {
  expect(geminiFailure(content)).toBe(kind);
  const [read] = geminiLimits(content, at);
  const when = typeof read?.resetsAt === "number" ? [read.resetsAt - at] : [];
  expect(read === undefined ? null : [read.limit, read.status, read.confidence, ...when].join(" ")).toBe(limit);
});
