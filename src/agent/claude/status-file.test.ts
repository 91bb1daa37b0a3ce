import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../session/approval.ts";
import type { Known } from "../contract.ts";
import { knownWith } from "./known-fixture.ts";
import { readHolder, readStatus } from "./status-file.ts";

const ID = "11111111-1111-4111-8111-111111111114";
const asked: ApprovalRequest = {
  id: "1794785041304-c8ddaa2d96c49b9f",
  kind: "command",
  title: "Run: touch p1",
  subject: "touch p1",
  cwd: null,
  reason: null,
};

function read(fields: Record<string, unknown>, known: Partial<Known> = {}): ReturnType<typeof readStatus> {
  const content = JSON.stringify({ pid: 9801, sessionId: ID, ...fields });
  return readStatus({ name: "9801.json", content }, knownWith(known));
}

test.each([
  [{ status: "busy" }, {}, { detail: "status file: busy", activity: "working" }],
  [{ status: "idle" }, { turnOpen: true }, { detail: "status file: idle", activity: "idle" }],
  [{ status: "shell" }, {}, { detail: "status file: shell", activity: "idle" }],
  [
    { status: "waiting", waitingFor: "permission prompt" },
    {},
    { detail: "status file: waiting, permission prompt", activity: "awaiting-approval" },
  ],
  [
    { status: "waiting", waitingFor: "dialog open" },
    {},
    {
      detail: "status file: waiting, dialog open",
      activity: "awaiting-input",
      asks: "Claude Code waits for a person (dialog open): look at its screen.",
    },
  ],
] as const)("%j", (fields, known, expected) => {
  expect(read(fields, known)).toEqual({ source: "status", ...expected });
});

test("what a hook said of a question is not overwritten with less", () => {
  expect(read({ status: "waiting", waitingFor: "input needed" }, { activity: "awaiting-input" })).toBe(null);
});

test("a status from before a question does not answer it", () => {
  const known = { activity: "awaiting-approval", turnOpen: true, approvals: [asked] } as const;
  expect(read({ status: "busy", statusUpdatedAt: 1794785041200 }, known)).toBe(null);
  expect(read({ status: "busy", statusUpdatedAt: 1794785043000 }, known)?.activity).toBe("working");
});

test("idle before the prompt of the command line is taken does not count", () => {
  const { launch } = knownWith({});
  const starting = { activity: "starting", launch: { ...launch, prompt: "go" } } as const;
  expect(read({ status: "idle" }, starting)).toBe(null);
  expect(read({ status: "idle" }, { ...starting, lastVerdict: "interrupted" })?.activity).toBe("idle");
  const tooLong = { ...launch, prompt: "x".repeat(200_000) };
  expect(read({ status: "idle" }, { ...starting, launch: tooLong })?.activity).toBe("idle");
});

test("other sessions' files, keys and removed files say nothing", () => {
  const known = knownWith({});
  expect(read({ status: "busy", sessionId: "22222222-1111-4111-8111-111111111114" })).toBe(null);
  expect(readStatus({ name: "9801.json", content: null }, known)).toBe(null);
  expect(readStatus({ name: "9801.abc.key", content: "{}" }, known)).toBe(null);
});

test("a file speaks for the process that it names", () => {
  const content = JSON.stringify({ pid: 9801, procStart: "4711", sessionId: ID, status: "busy" });
  expect(readHolder({ name: "9801.json", content }, ID)).toEqual({ pid: 9801, startTicks: "4711" });
  expect(readHolder({ name: "9802.json", content }, ID)).toBe(null);
  expect(readHolder({ name: "9801.json", content }, "22222222-1111-4111-8111-111111111114")).toBe(null);
});

test("no file makes it throw", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.object().map((value) => JSON.stringify({ sessionId: ID, ...value })),
      ),
      (content) => {
        readStatus({ name: "1.json", content }, knownWith({ approvals: [asked] }));
      },
    ),
  );
});

test("at the prompt no subagent works, and with `shell` only commands run", () => {
  const command = { id: "b", kind: "command", title: "npm test", holds: true } as const;
  const subagent = { id: "a", kind: "subagent", title: "Review", holds: true } as const;
  const known = { turnOpen: true, activity: "working", background: [subagent, command] } as const;
  expect(read({ status: "shell" }, known)).toMatchObject({ activity: "idle", background: { running: [command] } });
  expect(read({ status: "idle" }, known)).toMatchObject({ activity: "idle", background: { running: [] } });
  expect(read({ status: "busy" }, known)).not.toHaveProperty("background");
});

test("it says idle while a task of an MCP server works on, and shell if a command does, too", () => {
  const command = { id: "b", kind: "command", title: "npm test", holds: true } as const;
  const task = { id: "k", kind: "command", title: "MCP task reeve/wait_for_session", holds: true } as const;
  const known = { turnOpen: true, activity: "working", background: [task, command] } as const;
  expect(read({ status: "idle" }, known)).toMatchObject({ background: { running: [task] } });
  expect(read({ status: "shell" }, known)).toMatchObject({ background: { running: [task, command] } });
});
