import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import { makeContext, makeKnown, makeLaunch } from "../agent-fixture.ts";
import type { LaunchContext } from "../contract.ts";
import { nativeIdOf } from "../native-id.ts";
import { isConversationId } from "./conversation-id.ts";
import { HOOK_EVENTS } from "./hook-record.ts";
import { practiceAgent } from "./practice-agent.ts";

const agent = practiceAgent("/reeve/dist/practice.js", "/usr/bin/node");
const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
const at = "2026-01-31T23:59:59.123Z";
const known = makeKnown();

test("a start derives the conversation from the session and passes the prompt", () => {
  const conversation = nativeIdOf("s-1");
  const launch = makeLaunch({ args: ["--pace", "20"], prompt: "-- hello" });
  expect(agent.plan(makeContext({ launch }))).toEqual({
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
    files: [],
    nativeId: conversation,
    transcriptPath: "/h/s-1/transcript.jsonl",
    observabilityReason:
      "The transcript appears when the practice agent takes its first prompt; until then its screen is shown.",
    isPromptLeftOut: false,
    mode: {
      name: "hooks",
      text: "Reeve learns of turns and approvals from hooks, and of what was said from the transcript.",
    },
    channel: null,
    statusDir: null,
  });
});

test("a resume keeps the conversation and does not repeat a prompt that was taken", () => {
  const resume = { nativeId: id, transcriptPath: null };
  const resumed = agent.plan(makeContext({ resume, prompt: null, launch: makeLaunch({ prompt: "hello" }) }));
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
  expect(agent.plan(makeContext({ resume, prompt: "hello" })).argv.slice(-3)).toEqual(["--resume", "--", "hello"]);
});

test("conversation ids have the shape of a random UUID and differ by session", () => {
  const ids = Array.from({ length: 500 }, (_, index) => nativeIdOf(`s-${index}`));
  expect(
    ids.filter((value) => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(value)),
  ).toEqual([]);
  expect(new Set(ids.map((value) => value.slice(0, 8))).size).toBe(500);
  expect(ids[7]).toBe(nativeIdOf("s-7"));
});

test.each<[string, Partial<LaunchContext>]>([
  ["arguments-unsupported", { launch: makeLaunch({ args: ["--resume"] }) }],
  ["arguments-unsupported", { launch: makeLaunch({ args: ["--pace"] }) }],
  ["arguments-unsupported", { launch: makeLaunch({ args: ["--pace", "fast"] }) }],
  ["arguments-unsupported", { launch: makeLaunch({ args: ["--pace", "1", "more"] }) }],
  ["model-unsupported", { launch: makeLaunch({ model: "large" }) }],
  ["conversation-malformed", { resume: { nativeId: "--spool", transcriptPath: null } }],
])("a launch that makes no sense is refused as %s: %j", (code, change) => {
  const refused = expect.objectContaining({ code, kind: "usage" });
  expect(() => agent.plan(makeContext(change))).toThrow(ReeveError);
  expect(() => agent.plan(makeContext(change))).toThrow(refused);
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
    agent.readHook({ event, conversation: id, turn: 3, at, text: "te\u001b[31mxt" }, known),
  );
  expect(readings).toEqual([
    { ...common("session-start"), activity: "idle" },
    { ...common("turn-started"), activity: "working", turn: { phase: "started", id: "3", prompt: "te\u001b[31mxt" } },
    {
      ...common("approval-requested"),
      approval: {
        requested: { id: "turn-3", kind: "other", title: "text", subject: null, cwd: null, reason: null },
      },
    },
    { ...common("approval-answered"), approval: { settled: { id: null, decision: "denied" } } },
    { ...common("turn-completed"), activity: "idle", turn: { phase: "completed", id: "3" } },
    { ...common("turn-failed"), activity: "idle", turn: { phase: "failed", id: "3", error: "text" } },
    { ...common("turn-interrupted"), activity: "idle", turn: { phase: "interrupted", id: "3" } },
    common("session-end"),
  ]);
});

test("the end of a turn says what the limit is", () => {
  const record = { conversation: id, turn: 3, at, limit: { name: "tokens", usedPercent: 100, resetsAt: 5_000 } };
  const read = (more: object) => agent.readHook({ ...record, ...more }, known);
  expect(read({ event: "turn-failed", text: "wait", failure: "rate-limit" })).toEqual({
    ...common("turn-failed"),
    activity: "idle",
    turn: { phase: "failed", id: "3", error: "wait", failure: "rate-limit" },
    limits: [
      { limit: "tokens", status: "rejected", usedPercent: 100, resetsAt: 5_000, confidence: "stated", text: "wait" },
    ],
  });
  const limit = { name: "requests", usedPercent: 83, resetsAt: null };
  expect(read({ event: "turn-completed", limit })?.limits).toEqual([
    { limit: "requests", status: "ok", usedPercent: 83, resetsAt: null, confidence: "none", text: "83 % used" },
  ]);
  for (const bad of [{ ...limit, name: "../x" }, { ...limit, usedPercent: 120 }, { ...limit, resetsAt: "soon" }, 7])
    expect(read({ event: "turn-completed", limit: bad })).not.toHaveProperty("limits");
  expect(read({ event: "turn-failed", failure: "constructor" })?.turn).not.toHaveProperty("failure");
});

test("the account is the one that PRACTICE_ACCOUNT names", () => {
  const read = () => null;
  const launch = makeLaunch();
  expect(agent.readAccount?.({ environment: {}, launch, read })).toBe("practice");
  expect(agent.readAccount?.({ environment: { PRACTICE_ACCOUNT: "second" }, launch, read })).toBe("second");
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
  expect(agent.readHook(record, known)).toBeNull();
});

test("long hook texts are cut", () => {
  const text = "x".repeat(1_000_000);
  const reading = agent.readHook({ event: "approval-requested", conversation: id, turn: 1, at, text }, known);
  expect(reading?.approval).toMatchObject({ requested: { title: "x".repeat(2_000) } });
});

test("an answer is told as it was given, and given as it is typed", () => {
  const answered = (text: string) =>
    agent.readHook({ event: "approval-answered", conversation: id, turn: 1, at, text }, known);
  expect(answered("yes")).toMatchObject({ approval: { settled: { id: null, decision: "approved" } } });
  expect(answered("no")).toMatchObject({ approval: { settled: { id: null, decision: "denied" } } });
  const approval = { id: "turn-1", kind: "other", title: "?", subject: null, cwd: null, reason: null } as const;
  expect((["approved", "denied"] as const).map((decision) => agent.encodeAnswer(approval, decision))).toEqual([
    [
      { type: "key", key: "y" },
      { type: "key", key: "Enter" },
    ],
    [
      { type: "key", key: "n" },
      { type: "key", key: "Enter" },
    ],
  ]);
});

test("transcript lines become messages", () => {
  const read = (line: object) => agent.readMessages([JSON.stringify({ at, turn: 2, ...line })]);
  const plain = { tool: null, usage: null, at, turn: "2" };
  expect(read({ type: "user", text: "hi" })).toEqual([{ ...plain, role: "user", text: "hi" }]);
  expect(read({ type: "assistant", text: "" })).toEqual([{ ...plain, role: "assistant", text: "" }]);
  expect(read({ type: "tool", text: "$ ls" })).toEqual([{ ...plain, role: "tool", text: "$ ls" }]);
  expect(read({ type: "turn_failed", error: "no" })).toEqual([
    { ...plain, role: "system", text: "The turn failed: no" },
  ]);
  expect(read({ type: "turn_interrupted" })).toEqual([{ ...plain, role: "system", text: "The turn was interrupted." }]);
  const session = { type: "session", conversation: id, earlierTurns: 4, turn: undefined };
  expect(read({ ...session, resumed: true })).toEqual([
    { ...plain, role: "system", text: "Resumed; earlier turns: 4.", turn: null },
  ]);
  expect(read({ ...session, resumed: false })).toEqual([]);
  expect(read({ type: "turn_started" })).toEqual([]);
  expect(read({ type: "turn_completed" })).toEqual([]);
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
])("a torn or foreign transcript line says nothing: %s", (line) => {
  expect(agent.readMessages([line])).toEqual([]);
  expect(agent.readLine(line, known)).toBeNull();
});

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
        agent.readHook(record, known);
        agent.readMessages([line]);
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
