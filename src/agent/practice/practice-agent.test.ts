import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Launch } from "../../session/session.ts";
import type { LaunchContext } from "../contract.ts";
import { conversationIdOf, isConversationId } from "./conversation-id.ts";
import { HOOK_EVENTS } from "./hook-record.ts";
import { practiceAgent } from "./practice-agent.ts";

const agent = practiceAgent("/reeve/dist/practice.js", "/usr/bin/node");
const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
const at = "2026-01-31T23:59:59.123Z";
const launch: Launch = { args: [], prompt: null, model: null, cwd: "/w", envFile: null, envNames: [] };
const context: LaunchContext = {
  sessionId: "s-1",
  launch,
  resume: null,
  sessionDir: "/h/s-1",
  spoolDir: "/h/s-1/spool",
};

test("a start derives the conversation from the session and passes the prompt", () => {
  const conversation = conversationIdOf("s-1");
  const started = { ...context, launch: { ...launch, args: ["--pace", "20"], prompt: "-- hello" } };
  expect(agent.plan(started)).toEqual({
    argv: [
      "/usr/bin/node",
      "/reeve/dist/practice.js",
      "--conversation",
      conversation,
      "--transcript",
      "/h/s-1/transcript.jsonl",
      "--spool",
      "/h/s-1/spool",
      "--pace",
      "20",
      "--",
      "-- hello",
    ],
    environment: { PRACTICE_CONVERSATION: conversation },
    nativeId: conversation,
    transcript: { path: "/h/s-1/transcript.jsonl" },
    observabilityReason:
      "The transcript appears when the practice agent takes its first prompt; until then its screen is shown.",
  });
});

test("a resume keeps the conversation and does not repeat the prompt", () => {
  const resumed = agent.plan({ ...context, resume: id, launch: { ...launch, prompt: "hello" } });
  expect(resumed.argv.slice(2)).toEqual([
    "--conversation",
    id,
    "--transcript",
    "/h/s-1/transcript.jsonl",
    "--spool",
    "/h/s-1/spool",
    "--resume",
  ]);
  expect(resumed.nativeId).toBe(id);
});

test("conversation ids have the shape of a random UUID and differ by session", () => {
  const ids = Array.from({ length: 500 }, (_, index) => conversationIdOf(`s-${index}`));
  expect(
    ids.filter((value) => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(value)),
  ).toEqual([]);
  expect(new Set(ids.map((value) => value.slice(0, 8))).size).toBe(500);
  expect(ids[7]).toBe(conversationIdOf("s-7"));
});

test.each([
  ["arguments-unsupported", { launch: { ...launch, args: ["--resume"] } }],
  ["arguments-unsupported", { launch: { ...launch, args: ["--pace"] } }],
  ["arguments-unsupported", { launch: { ...launch, args: ["--pace", "fast"] } }],
  ["arguments-unsupported", { launch: { ...launch, args: ["--pace", "1", "more"] } }],
  ["model-unsupported", { launch: { ...launch, model: "large" } }],
  ["conversation-malformed", { resume: "--spool" }],
])("a launch that makes no sense is refused as %s: %j", (code, change) => {
  const refused = expect.objectContaining({ code, kind: "usage" });
  expect(() => agent.plan({ ...context, ...change })).toThrow(ReeveError);
  expect(() => agent.plan({ ...context, ...change })).toThrow(refused);
});

test("a message is pasted and submitted", () => {
  expect(agent.encode({ text: "a\nb", submit: true })).toEqual([
    { type: "paste", text: "a\nb" },
    { type: "key", key: "Enter" },
  ]);
  expect(agent.encode({ text: "a", submit: false })).toEqual([{ type: "paste", text: "a" }]);
});

test("it takes messages whenever it is not busy", () => {
  const activities = ["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"] as const;
  expect(activities.filter((activity) => agent.accepts(activity))).toEqual([
    "idle",
    "awaiting-approval",
    "awaiting-input",
    "unknown",
  ]);
});

function common(event: string) {
  return { source: "hook", detail: `${event} hook, turn 3`, nativeId: id };
}

test("every hook has its reading", () => {
  const readings = HOOK_EVENTS.map((event) =>
    agent.readHook({ event, conversation: id, turn: 3, at, text: "te\u001b[31mxt" }),
  );
  expect(readings).toEqual([
    { ...common("session-start"), activity: "idle" },
    { ...common("turn-started"), activity: "working", turn: "started" },
    { ...common("approval-requested"), activity: "awaiting-approval", asks: "text" },
    { ...common("approval-answered"), activity: "working" },
    { ...common("turn-completed"), activity: "idle", turn: "completed" },
    { ...common("turn-failed"), activity: "idle", turn: { failed: "text" } },
    { ...common("turn-interrupted"), activity: "idle", turn: "interrupted" },
    common("session-end"),
  ]);
});

test.each([
  { event: "turn-exploded", conversation: id, turn: 1, at },
  { event: "turn-started", conversation: "../../etc", turn: 1, at },
  { event: "turn-started", conversation: id, turn: -1, at },
  { event: "turn-started", conversation: id, turn: "1", at },
  { event: "turn-started", conversation: id, turn: 1, at: "yesterday" },
  { event: "turn-started", conversation: id, turn: 1, at, text: {} },
  { event: ["turn-started"], conversation: id, turn: 1, at },
  [],
  null,
  "turn-started",
])("a record the program would not have written says nothing: %j", (record) => {
  expect(agent.readHook(record)).toBeNull();
});

test("long hook texts are cut", () => {
  const reading = agent.readHook({
    event: "approval-requested",
    conversation: id,
    turn: 1,
    at,
    text: "x".repeat(1_000_000),
  });
  expect(reading?.asks).toHaveLength(2000);
});

test("transcript lines become messages", () => {
  const read = (line: object) => agent.readTranscriptLine(JSON.stringify({ at, turn: 2, ...line }));
  expect(read({ type: "user", text: "hi" })).toEqual({ role: "user", text: "hi", at, turn: 2 });
  expect(read({ type: "assistant", text: "" })).toEqual({ role: "assistant", text: "", at, turn: 2 });
  expect(read({ type: "tool", text: "$ ls" })).toEqual({ role: "tool", text: "$ ls", at, turn: 2 });
  expect(read({ type: "turn_failed", error: "no" })).toEqual({
    role: "system",
    text: "The turn failed: no",
    at,
    turn: 2,
  });
  expect(read({ type: "turn_interrupted" })).toEqual({
    role: "system",
    text: "The turn was interrupted.",
    at,
    turn: 2,
  });
  const session = { type: "session", conversation: id, earlierTurns: 4, turn: undefined };
  expect(read({ ...session, resumed: true })).toEqual({
    role: "system",
    text: "Resumed; earlier turns: 4.",
    at,
    turn: null,
  });
  expect(read({ ...session, resumed: false })).toBeNull();
  expect(read({ type: "turn_started" })).toBeNull();
  expect(read({ type: "turn_completed" })).toBeNull();
});

test.each([
  "",
  "{",
  '{"type":"user","turn":1,"at":"x","te',
  "null",
  "[]",
  '"user"',
  '{"type":"user","turn":1,"at":"x"}',
  '{"type":"secret"}',
])("a torn or foreign transcript line says nothing: %s", (line) => expect(agent.readTranscriptLine(line)).toBeNull());

test("no input makes reading throw", () => {
  const type = fc.constantFrom(
    "session",
    "user",
    "assistant",
    "tool",
    "turn_started",
    "turn_failed",
    "turn_interrupted",
  );
  const nearLine = fc.record(
    { type, turn: fc.anything(), at: fc.anything(), text: fc.anything(), error: fc.anything(), resumed: fc.anything() },
    { requiredKeys: ["type"] },
  );
  const nearRecord = fc.record(
    {
      event: fc.constantFrom(...HOOK_EVENTS),
      conversation: fc.constant(id),
      turn: fc.anything(),
      at: fc.anything(),
      text: fc.anything(),
    },
    { requiredKeys: ["event"] },
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.anything(), nearRecord),
      fc.oneof(fc.string(), fc.json(), nearLine.map(jsonOf)),
      (record, line) => {
        agent.readHook(record);
        agent.readTranscriptLine(line);
        expect(isConversationId(record)).toBe(false);
      },
    ),
    { numRuns: 1000 },
  );
});

/** JSON, or nothing where the value has no JSON form. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
