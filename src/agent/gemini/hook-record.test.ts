import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Reading } from "../../session/reading.ts";
import { errorText, readHook } from "./hook-record.ts";
import { knownWith, NATIVE_ID, TRANSCRIPT } from "./known-under-test.ts";

const RECORDS = readFileSync(new URL("../../../test/golden/gemini/0.61.0/hooks.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): unknown => JSON.parse(line));

function gist(reading: Reading | null): string {
  if (reading === null) return "nothing";
  const turn = reading.turn === undefined ? "" : ` turn ${reading.turn.phase}`;
  return `${reading.detail}: ${reading.activity ?? "-"}${turn}`;
}

test("a session of five turns: a tool, a refusal, a cancellation, an error and an answer", () => {
  expect(RECORDS.map((record) => gist(readHook(record, knownWith({}))))).toEqual([
    "SessionStart hook: -",
    "BeforeAgent hook: working turn started",
    "Notification hook: awaiting-approval",
    "AfterAgent hook: idle turn completed",
    "BeforeAgent hook: working turn started",
    "Notification hook: awaiting-approval",
    "BeforeAgent hook: working turn started",
    "AfterAgent hook: idle turn interrupted",
    "BeforeAgent hook: working turn started",
    "AfterAgent hook: idle turn failed",
    "BeforeAgent hook: working turn started",
    "AfterAgent hook: idle turn completed",
  ]);
});

test("the start names the transcript by the user's own path", () => {
  expect(readHook(RECORDS[0], knownWith({ transcriptPath: null, activity: "starting", turnOpen: false }))).toEqual({
    source: "hook",
    detail: "SessionStart hook",
    transcriptPath: TRANSCRIPT,
  });
});

test("the start of a resumed conversation names an empty file beside it, which is passed over", () => {
  const record = { ...(RECORDS[0] as object), source: "resume" };
  expect(readHook(record, knownWith({ transcriptPath: null }))).toEqual({
    source: "hook",
    detail: "SessionStart hook",
  });
});

test("/clear begins another conversation", () => {
  const path = "/s/reeve-gemini-home/.gemini/tmp/proj/chats/session-2026-11-15T23-40-0a0b0c0d.jsonl";
  const record = { ...(RECORDS[0] as object), source: "clear", session_id: "0a0b0c0d-0", transcript_path: path };
  expect(readHook(record, knownWith({}))).toEqual({
    source: "hook",
    detail: "SessionStart hook",
    nativeId: "0a0b0c0d-0",
    transcriptPath: "/home/user/.gemini/tmp/proj/chats/session-2026-11-15T23-40-0a0b0c0d.jsonl",
  });
});

test("the hooks of a gemini that the agent started are not ours", () => {
  const other = RECORDS.map((record) => readHook(record, knownWith({ nativeId: "another" })));
  expect(other).toEqual(RECORDS.map(() => null));
});

test("a start with an id that follows the planned one is ours, whatever came before it", () => {
  const next = NATIVE_ID.replace("fbf73c74", "fbf73c75");
  const record = { hook_event_name: "SessionStart", source: "startup", session_id: next };
  const known = knownWith({ turnOpen: false, activity: "starting", lastVerdict: "failed" });
  expect(readHook(record, known)).toMatchObject({ nativeId: next });
  const other = crypto.randomUUID();
  expect(readHook({ ...record, session_id: other }, known)).toBe(null);

  const told = { reeve: "gemini-conversation", session_id: next };
  expect(readHook(told, known)).toEqual({
    source: "supervisor",
    detail: "began a new conversation: there was nothing to resume in the earlier one",
    nativeId: next,
  });
  expect(readHook(told, { ...known, nativeId: next })).toBe(null);
  expect(readHook({ ...told, session_id: other }, known)).toBe(null);
});

test("before its first turn a start with another id is ours: the planned one was taken", () => {
  const known = knownWith({ nativeId: "another", transcriptPath: null, turnOpen: false });
  expect(readHook(RECORDS[0], known)).toEqual({
    source: "hook",
    detail: "SessionStart hook",
    nativeId: NATIVE_ID,
    transcriptPath: TRANSCRIPT,
  });
  expect(readHook(RECORDS[0], { ...known, lastVerdict: "completed" })).toBeNull();
});

test("an approval", () => {
  expect(readHook(RECORDS[2], knownWith({}))).toEqual({
    source: "hook",
    detail: "Notification hook",
    activity: "awaiting-approval",
    asks: "Run touch made.txt",
    approval: {
      requested: {
        id: "permission-2026-11-15T23:29:08.474Z",
        kind: "command",
        title: "Run touch made.txt",
        subject: "touch made.txt",
        cwd: "/home/user/work/proj",
        reason: null,
      },
      concerns: { tool: "exec", paths: [] },
    },
  });
});

test.each([
  [
    { type: "edit", fileName: "a.ts", filePath: "/p/a.ts" },
    { kind: "edit", title: "Change a.ts", subject: "/p/a.ts" },
  ],
  [
    { type: "mcp", serverName: "s", toolName: "t" },
    { kind: "tool", title: "Use t of s", subject: "t of s" },
  ],
  [
    { type: "info", title: "Fetch", urls: ["http://x"] },
    { kind: "other", title: "Fetch", subject: "http://x" },
  ],
  [
    { type: "new", title: 7 },
    { kind: "other", title: "Gemini CLI asks", subject: null },
  ],
])("an approval of another kind: %j", (details, expected) => {
  const record = { ...(RECORDS[2] as object), details };
  expect(readHook(record, knownWith({}))?.approval).toMatchObject({ requested: expected });
});

test("a question to a person is no approval", () => {
  const record = { ...(RECORDS[2] as object), details: { type: "ask_user", title: "Which colour?" } };
  expect(readHook(record, knownWith({}))).toEqual({
    source: "hook",
    detail: "Notification hook",
    activity: "awaiting-input",
    asks: "Which colour?",
  });
});

test("a cancelled turn that the transcript has ended already is not ended again", () => {
  expect(readHook(RECORDS[7], knownWith({ turnOpen: false }))).toBeNull();
});

test("a failed turn says why", () => {
  expect(readHook(RECORDS[9], knownWith({}))?.turn).toEqual({
    phase: "failed",
    at: expect.any(Number),
    error: "400: Scripted status 400",
    failure: "model-error",
  });
  expect(errorText("[API Error: terminated]")).toBe("[API Error: terminated]");
  expect(errorText(null)).toBe("Gemini CLI gave no reason.");
});

test("nothing makes it throw", () => {
  const record = fc.record(
    {
      session_id: fc.constantFrom(NATIVE_ID, "x", 1),
      hook_event_name: fc.constantFrom("SessionStart", "BeforeAgent", "AfterAgent", "Notification", "Other", 1),
      notification_type: fc.constantFrom("ToolPermission", 1),
      transcript_path: fc.jsonValue(),
      details: fc.oneof(
        fc.jsonValue(),
        fc.record({ type: fc.string(), command: fc.jsonValue(), urls: fc.jsonValue() }),
      ),
      prompt: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(fc.property(record, fc.jsonValue(), (hook, notes) => void readHook({ hook, notes }, knownWith({}))));
  fc.assert(
    fc.property(fc.oneof(record, fc.jsonValue(), fc.anything()), (value) => void readHook(value, knownWith({}))),
  );
});
