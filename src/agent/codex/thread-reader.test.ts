import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Reading } from "../../session/reading.ts";
import { read, run, runningSession } from "../../session/run-inputs.ts";
import { type Fields, fieldsOf } from "../../platform/json-fields.ts";
import type { RequestId } from "./rpc.ts";
import { createThreadReader, type ThreadReader } from "./thread-reader.ts";

const messages = readFileSync(new URL("../../../test/golden/codex/0.166.0/protocol.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Fields);
const THREAD = "01a1e19f-22bb-7360-84a4-f4fc5ca7e497";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function readAll(threadId: string): readonly Reading[] {
  const readings: Reading[] = [];
  const reader = createThreadReader(threadId, (reading) => readings.push(reading));
  for (const { id, method, params, result } of messages) {
    if (result !== undefined) reader.readSnapshot(fieldsOf(result));
    else if (id !== undefined) reader.readRequest(String(method), fieldsOf(params), id as RequestId);
    else reader.readNotification(String(method), fieldsOf(params));
  }
  vi.runAllTimers();
  return readings;
}

test("a session of 0.166.0: an answer, a command approved in the TUI, one denied there, a failure, an interrupt", () => {
  const readings = readAll(THREAD);
  const ids = [...new Set(readings.map(({ turn }) => turn?.id).filter((id) => id !== undefined))];
  const [hello, approved, denied, failed, interrupted] = ids;
  const facts = readings.flatMap(({ turn, approval, nativeId }) =>
    [nativeId, turn, approval].filter((fact) => fact !== undefined),
  );
  const concerns = { tool: "Bash", paths: [] };
  expect(facts).toEqual([
    THREAD,
    { phase: "started", id: hello },
    { phase: "started", id: hello, prompt: "hello one" },
    { phase: "completed", id: hello },
    { phase: "started", id: approved },
    { phase: "started", id: approved, prompt: "do RUNESC[touch /home/user/y1]" },
    { requested: asked("touch /home/user/y1", approved), concerns },
    { settled: { id: expect.stringContaining(`${approved}/`), decision: "approved" } },
    { phase: "completed", id: approved },
    { phase: "started", id: denied },
    { phase: "started", id: denied, prompt: "do RUNESC[touch /home/user/y2]" },
    { requested: asked("touch /home/user/y2", denied), concerns },
    { settled: { id: expect.stringContaining(`${denied}/`), decision: "denied" } },
    { phase: "interrupted", id: denied },
    { phase: "started", id: failed },
    { phase: "started", id: failed, prompt: "BAD400" },
    { phase: "failed", id: failed, error: "bad request (scripted)", failure: "model-error" },
    { phase: "started", id: interrupted },
    { phase: "started", id: interrupted, prompt: "HANG" },
    { phase: "interrupted", id: interrupted },
  ]);
  expect(readings.at(-1)).toMatchObject({ source: "protocol", activity: "idle" });
});

test("an idle status says nothing while the turn's own end is still to come", () => {
  const readings = readAll(THREAD);
  const idle = readings.filter(({ activity, turn }) => activity === "idle" && turn === undefined);
  expect(idle).toEqual([{ source: "protocol", detail: "thread status idle", activity: "idle" }]);
});

test("a question is told once, when it is there; that one is coming says nothing yet", () => {
  const asking = readAll(THREAD).filter(({ activity }) => activity === "awaiting-approval");
  expect(asking.map(({ asks, approval }) => [asks, approval !== undefined])).toEqual([
    ["Run: touch /home/user/y1", true],
    ["Run: touch /home/user/y2", true],
  ]);
});

describe("it waits for somebody", () => {
  const waiting = (flag: string): Fields => ({ threadId: "t", status: { type: "active", activeFlags: [flag] } });
  const question = { threadId: "t", questions: [{ question: "Which colour?" }] };
  const read = (steps: (reader: ThreadReader) => void): readonly Reading[] => {
    const readings: Reading[] = [];
    steps(createThreadReader("t", (reading) => readings.push(reading)));
    vi.runAllTimers();
    return readings;
  };

  test("and what it asks does not come: that is said, after a moment, once", () => {
    for (const [flag, activity] of [
      ["waitingOnApproval", "awaiting-approval"],
      ["waitingOnUserInput", "awaiting-input"],
    ] as const) {
      const readings = read((reader) => {
        reader.readNotification("thread/status/changed", waiting(flag));
        reader.readNotification("thread/status/changed", waiting(flag));
        vi.advanceTimersByTime(500);
        reader.readNotification("thread/status/changed", waiting(flag));
      });
      expect(readings).toMatchObject([{ activity, asks: "Codex asks a question: answer it in its pane." }]);
      expect(readings[0]?.approval !== undefined).toBe(activity === "awaiting-approval");
    }
  });

  test("and what it asks comes before, or after: only the question is said", () => {
    const status = (reader: ThreadReader): void =>
      reader.readNotification("thread/status/changed", waiting("waitingOnUserInput"));
    const ask = (reader: ThreadReader): void => reader.readRequest("item/tool/requestUserInput", question, 1);
    for (const steps of [
      [status, ask],
      [ask, status],
    ]) {
      const readings = read((reader) => steps.forEach((step) => step(reader)));
      expect(readings.map(({ asks }) => asks)).toEqual(["Which colour?"]);
    }
  });

  test("and no longer does before anything was said", () => {
    const readings = read((reader) => {
      reader.readNotification("thread/status/changed", waiting("waitingOnApproval"));
      reader.readNotification("thread/status/changed", { threadId: "t", status: { type: "active", activeFlags: [] } });
    });
    expect(readings.map(({ activity }) => activity)).toEqual(["working"]);
  });

  test("and the channel closes: nothing is said", () => {
    const readings = read((reader) => {
      reader.readNotification("thread/status/changed", waiting("waitingOnApproval"));
      reader.close();
    });
    expect(readings).toEqual([]);
  });
});

test("how a question was answered in the pane is not lost to the status that comes with it", () => {
  const { events } = run(runningSession(), ...readAll(THREAD).map((reading) => read(reading)));
  const settled = events.flatMap((event) => (event.type === "approval-settled" ? [event.decision] : []));
  expect(settled).toEqual(["approved", "denied"]);
});

test("what other threads do is not read", () => {
  expect(readAll("01a1e19f-0000-7000-8000-000000000000").filter(({ turn, approval }) => turn ?? approval)).toEqual([]);
});

test("how the last turn ended is history when a client connects; that it is under way is not", () => {
  const snapshot = (turn: Fields): readonly Reading[] => {
    const readings: Reading[] = [];
    const reader = createThreadReader("t", (reading) => readings.push(reading));
    reader.readSnapshot({ thread: { status: { type: "idle" } }, initialTurnsPage: { data: [turn] } });
    return readings;
  };
  const [, last, status] = snapshot({ id: "a", status: "interrupted", startedAt: 1_000, completedAt: null });
  expect(last).toMatchObject({ isHistory: true, turn: { phase: "interrupted", id: "a", at: 1_000_999 } });
  expect([last?.activity, status?.activity]).toEqual([undefined, "idle"]);
  const [, open] = snapshot({ id: "a", status: "inProgress", startedAt: 1_000 });
  expect(open).toMatchObject({ activity: "working", turn: { phase: "started", id: "a" } });
  expect(open).not.toHaveProperty("isHistory");
});

describe("a thread whose history cannot be read", () => {
  const open = (status: Fields): { readonly reader: ThreadReader; readonly readings: Reading[] } => {
    const readings: Reading[] = [];
    const reader = createThreadReader("t", (reading) => readings.push(reading));
    reader.readUnfollowed({ status }, "missing source rollout");
    return { reader, readings };
  };

  test("idle, or stopped by an error: how a turn that is open ended is history, without a name", () => {
    expect(open({ type: "idle" }).readings.slice(1)).toMatchObject([
      { activity: "idle" },
      { isHistory: true, turn: { phase: "completed" } },
    ]);
    expect(open({ type: "systemError" }).readings.at(-1)).toMatchObject({ isHistory: true, turn: { phase: "failed" } });
  });

  test("at work: the end that is told counts, and from then on nothing is lacking", () => {
    const { reader, readings } = open({ type: "active", activeFlags: [] });
    expect([reader.unfollowed(), reader.isActive()]).toEqual(["missing source rollout", true]);
    reader.readNotification("turn/completed", { threadId: "t", turn: { id: "a", status: "completed" } });
    expect(readings.at(-1)).toEqual({
      source: "protocol",
      detail: "turn/completed",
      activity: "idle",
      turn: { phase: "completed", id: "a" },
    });
    expect(reader.unfollowed()).toBeNull();
  });
});

test("who asks and is not answered is known by its question", () => {
  const readings: Reading[] = [];
  const reader = createThreadReader("t", (reading) => readings.push(reading));
  const questions = [{ question: "Which colour should it be?" }];
  reader.readRequest("item/tool/requestUserInput", { threadId: "t", questions }, 1);
  reader.readRequest("item/tool/call", { threadId: "t" }, 2);
  expect(readings).toEqual([
    {
      source: "protocol",
      detail: "item/tool/requestUserInput",
      activity: "awaiting-input",
      asks: "Which colour should it be?",
    },
  ]);
});

test("an MCP tool's question is answered in its own form", () => {
  const reader = createThreadReader("t", () => undefined);
  const meta = { codex_approval_kind: "mcp_tool_call", tool_params: { path: "/x" } };
  const params = { threadId: "t", turnId: "u", serverName: "lab", mode: "form", _meta: meta, message: "Allow it?" };
  reader.readRequest("mcpServer/elicitation/request", params, 7);
  const question = reader.question("u/request-7");
  expect(question?.request).toEqual({
    id: "u/request-7",
    kind: "tool",
    title: "Allow it?",
    subject: '{"path":"/x"}',
    cwd: null,
    reason: null,
  });
  expect(question?.answer("denied")).toEqual({ action: "decline", content: null, _meta: null });
});

test("whatever the server sends, it is read or it is not", () => {
  const method = fc.constantFrom(
    ...new Set(messages.map((message) => String(message["method"]))),
    "mcpServer/elicitation/request",
  );
  const params = fc.dictionary(
    fc.constantFrom("turn", "item", "status", "requestId", "turnId", "tokenUsage", "_meta"),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(method, params)), (given) => {
      const reader = createThreadReader("t", (reading) => expect(reading.source).toBe("protocol"));
      for (const [name, fields] of given) {
        reader.readNotification(name, { ...fields, threadId: "t" });
        reader.readRequest(name, { ...fields, threadId: "t" }, 1);
        reader.readSnapshot(fields);
      }
    }),
  );
});

function asked(command: string, turnId: string | undefined): object {
  return {
    id: expect.stringContaining(`${turnId}/`),
    kind: "command",
    title: `Run: ${command}`,
    subject: command,
    cwd: "/home/user/work",
    reason: "Because the test needs it",
  };
}
