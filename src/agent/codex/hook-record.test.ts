import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Reading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { readSpooled } from "./hook-record.ts";
import { plainLaunch } from "../../session/plain-launch.ts";

const THREAD = "01a1e177-7b81-7043-813a-79e65bffb962";
const ROLLOUT = `/home/user/.codex/sessions/2026/11/15/rollout-2026-11-15T23-07-46-${THREAD}.jsonl`;
const FIRST = "01a1e177-83f0-7e22-acc1-b92c2e909001";
const SECOND = "01a1e177-9257-7583-8b8c-87a68bc4ba05";
const NEW: Known = {
  nativeId: null,
  transcriptPath: null,
  version: "0.166.0",
  launch: plainLaunch("/"),
  activity: "starting",
  turnOpen: false,
  lastVerdict: null,
  approvals: [],
  background: [],
};
const KNOWN: Known = { ...NEW, nativeId: THREAD, transcriptPath: ROLLOUT };
const HOOK = { source: "hook", nativeId: THREAD, transcriptPath: ROLLOUT } as const;

const records = readFileSync(new URL("../../../test/golden/codex/0.166.0/hook-records.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { readonly hook_event_name?: string });

test("the bootstrap tells that Reeve's tools came late", () => {
  expect(readSpooled({ reeve: "tools-late" }, NEW)).toMatchObject({ source: "hook", toolsLate: true });
});

describe("what Codex 0.166.0 spooled", () => {
  test("in the order of the file: a turn, a denied command, an interrupt, a failure, the end", () => {
    const approval = {
      id: `${SECOND}/ID`,
      kind: "command",
      title: "Run: touch /home/user/zzz5",
      subject: "touch /home/user/zzz5",
      cwd: "/home/user/work",
      reason: "Because the test needs it",
    };
    const third = "01a1e177-a828-7393-b717-c612899bc815";
    const fourth = "01a1e177-bd17-7543-8204-bd11ff2d3f3d";
    const notified = { source: "hook", detail: "notify: agent-turn-complete" };
    expect(records.map((record) => anonymous(readSpooled(record, KNOWN)))).toEqual([
      { ...HOOK, detail: "SessionStart hook" },
      started(FIRST, "hello one"),
      { ...HOOK, detail: "Stop hook", ending: { id: FIRST } },
      { ...notified, activity: "idle", turn: { phase: "completed", id: FIRST } },
      null,
      started(SECOND, "do RUNESC[touch /home/user/zzz5]"),
      null,
      {
        ...HOOK,
        detail: "PermissionRequest hook",
        activity: "awaiting-approval",
        asks: approval.title,
        approval: { requested: approval, concerns: { tool: "Bash", paths: [] } },
      },
      interrupted(SECOND),
      started(third, "and SLOW please"),
      interrupted(third),
      started(fourth, "fail BAD400"),
      { ...HOOK, detail: "SessionEnd hook" },
    ]);
  });

  test("a Stop hook ends the turn where no rollout was ever known", () => {
    const stop = records.find((record) => record.hook_event_name === "Stop");
    expect(readSpooled(stop, NEW)).toEqual({
      ...HOOK,
      detail: "Stop hook",
      activity: "idle",
      turn: { phase: "completed", id: FIRST },
    });
  });
});

describe("approvals", () => {
  const asked = {
    session_id: THREAD,
    turn_id: SECOND,
    tool_name: "Bash",
    tool_input: { command: "ls", description: "why" },
  };
  const requested = readSpooled({ ...asked, hook_event_name: "PermissionRequest" }, KNOWN)?.approval;
  const open = requested !== undefined && "requested" in requested ? [requested.requested] : [];

  test("a tool that ran was approved", () => {
    const ran = { ...asked, tool_input: { command: "ls" }, hook_event_name: "PostToolUse" };
    expect(readSpooled(ran, { ...KNOWN, approvals: open })?.approval).toEqual({
      settled: { id: open[0]?.id, decision: "approved" },
    });
  });

  test("a tool that nobody was asked about settles nothing", () => {
    const ran = { ...asked, tool_input: { command: "pwd" }, hook_event_name: "PostToolUse" };
    expect(readSpooled(ran, { ...KNOWN, approvals: open })).toBeNull();
  });

  test("an interrupt denies what was open", () => {
    const reading = readSpooled({ ...asked, hook_event_name: "Interrupt" }, { ...KNOWN, approvals: open });
    expect(reading?.approval).toEqual({ settled: { id: null, decision: "denied" } });
  });
});

test("the bootstrap's word names thread and rollout", () => {
  const record = { reeve: "codex-thread", thread_id: THREAD, rollout_path: ROLLOUT };
  expect(readSpooled(record, NEW)).toEqual({ ...HOOK, detail: `thread ${THREAD} opened` });
});

test("another thread's hooks are not this session's, unless it begins", () => {
  const other = { session_id: FIRST, hook_event_name: "UserPromptSubmit", prompt: "x" };
  expect(readSpooled(other, KNOWN)).toBeNull();
  expect(readSpooled({ ...other, hook_event_name: "SessionStart" }, KNOWN)?.nativeId).toBe(FIRST);
});

test("whatever is spooled, it is read or it is not", () => {
  const event = fc.constantFrom("Stop", "PermissionRequest", "PostToolUse", "Interrupt", "UserPromptSubmit", "x");
  const record = fc.oneof(
    fc.anything(),
    fc.record({
      hook_event_name: event,
      session_id: fc.constant(THREAD),
      tool_input: fc.anything(),
      turn_id: fc.anything(),
    }),
    fc.record({
      type: fc.constant("agent-turn-complete"),
      "thread-id": fc.anything(),
      "input-messages": fc.anything(),
    }),
  );
  fc.assert(
    fc.property(record, fc.boolean(), (value, isKnown) => {
      const reading = readSpooled(value, isKnown ? KNOWN : NEW);
      expect(reading === null || reading.source === "hook").toBe(true);
    }),
  );
});

function started(id: string, prompt: string): Reading {
  return { ...HOOK, detail: "UserPromptSubmit hook", activity: "working", turn: { phase: "started", id, prompt } };
}

function interrupted(id: string): Reading {
  return { ...HOOK, detail: "Interrupt hook", activity: "idle", turn: { phase: "interrupted", id } };
}

/** The made part of an approval's id says nothing. */
function anonymous(reading: Reading | null): unknown {
  return reading === null ? null : JSON.parse(JSON.stringify(reading).replace(/\/[0-9a-f]{12}"/, '/ID"'));
}
