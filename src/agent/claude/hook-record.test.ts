import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../session/approval.ts";
import type { Reading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { readHook } from "./hook-record.ts";
import { knownWith } from "./known-fixture.ts";
import { recorded } from "./recorded-fixture.ts";

test("a real run, record by record", () => {
  let approvals: readonly ApprovalRequest[] = [];
  const told = recorded("hooks.jsonl").map((record) => {
    const reading = readHook(JSON.parse(record), knownWith({ approvals, activity: "awaiting-input" }));
    approvals = approvalsAfter(approvals, reading);
    return brief(reading);
  });
  expect(told).toEqual([
    "SessionStart hook, startup",
    "UserPromptSubmit hook | started 9575 | working",
    "Stop hook | completed 9575 | idle",
    "UserPromptSubmit hook | started 518b | working",
    "UserPromptSubmit hook | started 5a49 | working",
    "PermissionRequest hook | awaiting-approval | Run: touch a",
    "PostToolUse hook | approved",
    "Stop hook | completed 5a49 | idle",
    "UserPromptSubmit hook | started 82a9 | working",
    "PermissionRequest hook | awaiting-approval | Run: touch b",
    "UserPromptSubmit hook | started 3ac8 | working",
    "StopFailure hook | failed 3ac8 | idle",
    "UserPromptSubmit hook | started e0e0 | working",
    "UserPromptSubmit hook | started e0e0 | working",
    "Stop hook | completed e0e0 | idle",
    "Stop hook | completed 7ecf | idle",
    "UserPromptSubmit hook | started 0d77 | working",
    "PermissionRequest hook | awaiting-input | Which colour? (Red / Blue)",
    "Stop hook | completed 0d77 | idle",
    "UserPromptSubmit hook | started 9c53 | working",
    "PermissionRequest hook | awaiting-approval | Run: touch subfile",
    "Stop hook, in the background: subagent: Touch things | completed 9c53 | awaiting-approval | Run: touch subfile",
    "PostToolUse hook | approved",
    "UserPromptSubmit hook | started 2f90 | working",
    "Stop hook | completed 2f90 | idle",
    "UserPromptSubmit hook | started 87ec | working",
  ]);
});

function approvalsAfter(before: readonly ApprovalRequest[], reading: Reading | null): readonly ApprovalRequest[] {
  const approval = reading?.approval;
  if (approval === undefined) return reading?.activity === "working" || reading?.activity === "idle" ? [] : before;
  return "requested" in approval
    ? [...before, approval.requested]
    : before.filter(({ id }) => id !== approval.settled.id);
}

/** One line per reading: what it is, the turn by the first digits of its id, the activity. */
function brief(reading: Reading | null): string {
  if (reading === null) return "nothing";
  const { detail, turn, activity, asks, approval } = reading;
  const settled = approval !== undefined && "settled" in approval ? `${approval.settled.decision}` : null;
  return [detail, turn && `${turn.phase} ${turn.id?.slice(0, 4)}`, settled, activity, asks].filter(Boolean).join(" | ");
}

const base = {
  session_id: "98ed8ad5-8412-4b99-986c-5801c754db11",
  transcript_path: "/home/user/.claude/projects/-home-user-project-app/98ed8ad5-8412-4b99-986c-5801c754db11.jsonl",
  cwd: "/home/user/project/app",
  prompt_id: "5a49dd32-c139-4077-b4d5-fe5103e697c0",
};

test("a question is told whole, under an id that begins with its time", () => {
  const asked = { ...base, hook_event_name: "PermissionRequest", tool_name: "Bash" };
  const record = { ...asked, tool_input: { command: "touch a\nls", description: "Make a file" } };
  const reading = readHook({ at: 1794785314157, record }, knownWith({}));
  expect(reading).toEqual({
    source: "hook",
    detail: "PermissionRequest hook",
    activity: "awaiting-approval",
    asks: "Run: touch a ls",
    approval: {
      requested: {
        id: "1794785314157-34037c3b6dac87df",
        kind: "command",
        title: "Run: touch a ls",
        subject: "touch a\nls",
        cwd: "/home/user/project/app",
        reason: "Make a file",
      },
      concerns: { tool: "Bash", paths: [] },
    },
  });
});

test.each([
  ["Write", { file_path: "/w/a.txt", content: "x" }, "edit", "Write: /w/a.txt"],
  ["WebFetch", { url: "http://127.0.0.1:1/x", prompt: "p" }, "tool", "Use WebFetch: http://127.0.0.1:1/x"],
  ["mcp__db__query", { sql: "select 1" }, "tool", "Use mcp__db__query"],
])("what %s asks", (tool, input, kind, title) => {
  const record = { ...base, hook_event_name: "PermissionRequest", tool_name: tool, tool_input: input };
  const approval = readHook({ at: 1, record }, knownWith({}))?.approval;
  expect(approval).toMatchObject({ requested: { kind, title, subject: JSON.stringify(input, null, 2) } });
});

test("while a subagent's question is open, the end of a turn is not idle: typing would answer it", () => {
  const asked = {
    id: "1-subagent-ab",
    kind: "command",
    title: "Run: touch subfile",
    subject: null,
    cwd: null,
    reason: null,
  } as const;
  const known: Known = knownWith({ approvals: [asked] });
  const background_tasks = [{ id: "a", type: "subagent", status: "running" }];
  expect(readHook({ ...base, hook_event_name: "Stop", background_tasks }, known)).toEqual({
    source: "hook",
    detail: "Stop hook, in the background: subagent: a",
    background: { running: [{ id: "a", kind: "subagent", title: "a" }] },
    turn: { phase: "completed", id: base.prompt_id },
    activity: "awaiting-approval",
    asks: "Run: touch subfile",
  });
});

test("a subagent begins and ends no turn", () => {
  for (const hook_event_name of ["SessionStart", "UserPromptSubmit", "Stop", "StopFailure"])
    expect(readHook({ ...base, hook_event_name, agent_id: "a1" }, knownWith({}))).toBe(null);
});

test("a failure says why", () => {
  const record = {
    ...base,
    hook_event_name: "StopFailure",
    error: "rate_limit",
    last_assistant_message: "API Error: 429",
  };
  expect(readHook(record, knownWith({}))?.turn).toEqual({
    phase: "failed",
    id: base.prompt_id,
    error: "API Error: 429 (rate_limit)",
    failure: "rate-limit",
  });
});

test("no record makes it throw", () => {
  const event = fc.constantFrom(
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "PermissionRequest",
    "PostToolUse",
    "Notification",
  );
  const field = fc.constantFrom(
    "tool_name",
    "tool_input",
    "background_tasks",
    "prompt",
    "session_id",
    "error",
    "message",
  );
  const record = fc
    .tuple(event, fc.dictionary(field, fc.anything()))
    .map(([hook_event_name, fields]) => ({ ...fields, hook_event_name }));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.anything(),
        record,
        record.map((inner) => ({ at: 5, record: inner })),
      ),
      (value) => {
        readHook(value, knownWith({}));
      },
    ),
  );
});

test("what works in the background is told by Stop and SubagentStop, and by the prompt that wakes the agent", () => {
  const shell = { id: "b1", type: "shell", status: "running", description: "Tests", command: "npm  test\n--all" };
  const subagent = { id: "a1", type: "subagent", status: "running", description: "Review", agent_type: "Plan" };
  const watch = { id: "m1", type: "monitor", status: "running", description: "Deploys", server: "ci" };
  const wait = { id: "k1", type: "MCP task", status: "running", description: "reeve/wait_for_session" };
  const background_tasks = [shell, subagent, watch, wait, { type: "shell" }];
  const stop = readHook({ ...base, hook_event_name: "Stop", background_tasks }, knownWith({ turnOpen: true }));
  expect(stop).toMatchObject({
    detail: "Stop hook, in the background: npm test --all; subagent: Review; Deploys; MCP task reeve/wait_for_session",
    turn: { phase: "completed" },
    background: {
      running: [
        { id: "b1", kind: "command", title: "npm test --all" },
        { id: "a1", kind: "subagent", title: "Review" },
        { id: "m1", kind: "command", title: "Deploys" },
        { id: "k1", kind: "command", title: "MCP task reeve/wait_for_session" },
      ],
    },
  });
  expect(readHook({ ...base, hook_event_name: "Stop", background_tasks: [] }, knownWith({}))?.background).toEqual({
    running: [],
  });
  // A version that does not tell says nothing of it.
  expect(readHook({ ...base, hook_event_name: "Stop" }, knownWith({}))).not.toHaveProperty("background");

  const below = { ...base, agent_id: "a1", agent_type: "Plan" };
  expect(readHook({ ...below, hook_event_name: "SubagentStart" }, knownWith({}))).toEqual({
    source: "hook",
    detail: "SubagentStart hook",
    background: { started: { id: "a1", kind: "subagent", title: "Plan" } },
  });
  expect(readHook({ ...below, hook_event_name: "SubagentStop", background_tasks }, knownWith({}))?.background).toEqual({
    running: [
      { id: "b1", kind: "command", title: "npm test --all" },
      { id: "m1", kind: "command", title: "Deploys" },
      { id: "k1", kind: "command", title: "MCP task reeve/wait_for_session" },
    ],
  });
  expect(readHook({ ...below, hook_event_name: "SubagentStop" }, knownWith({}))?.background).toEqual({ ended: ["a1"] });

  const note = (id: string): string => `<task-notification>\n<task-id>${id}</task-id>\n</task-notification>`;
  const woken = { ...base, hook_event_name: "UserPromptSubmit", prompt: `${note("a1")}\n${note("b1")}` };
  expect(readHook(woken, knownWith({}))).toMatchObject({
    turn: { phase: "started", id: base.prompt_id, continues: true },
    background: { ended: ["a1", "b1"] },
  });
  expect(readHook(woken, knownWith({}))?.turn).not.toHaveProperty("prompt");
});

test("a call in the background that is over before the turn holds it until the agent was told", () => {
  const text =
    'MCP tool "reeve/wait_for_session" started server-side task WzEs. It was moved to the background as task k4ot7 and keeps running on the server.';
  const moved = {
    ...base,
    hook_event_name: "PostToolUse",
    tool_name: "mcp__reeve__wait_for_session",
    tool_input: {},
    tool_response: [{ type: "text", text }],
  };
  const task = { id: "k4ot7", kind: "command", title: "MCP task reeve/wait_for_session" } as const;
  expect(readHook(moved, knownWith({ turnOpen: true }))).toMatchObject({ background: { started: task } });
  expect(readHook({ ...moved, tool_response: text }, knownWith({ turnOpen: true }))).toBeNull();

  const stop = { ...base, hook_event_name: "Stop", background_tasks: [] };
  const stopKnowing = (holds: boolean) =>
    readHook(stop, knownWith({ turnOpen: true, background: [{ ...task, holds }] }))?.background;
  expect(stopKnowing(true)).toEqual({ running: [task] });
  // One of an earlier turn, of which nothing is heard any more.
  expect(stopKnowing(false)).toEqual({ running: [] });
});

test("the file of an edit is told for approval rules", () => {
  const edit = {
    ...base,
    hook_event_name: "PermissionRequest",
    tool_name: "Write",
    tool_input: { file_path: "/w/a.txt", content: "x" },
  };
  const approval = readHook({ at: 1, record: edit }, knownWith({}))?.approval;
  expect(approval).toMatchObject({ concerns: { tool: "Write", paths: ["/w/a.txt"] } });
});

test("the hook at the start tells that Reeve's tools came late", () => {
  expect(readHook({ reeve: "tools-late" }, knownWith({}))).toMatchObject({ source: "hook", toolsLate: true });
});
