/**
 * For a client that declared the tasks extension a wait is a task,
 * which survives the MCP child and the daemon. By hand: the official client
 * has no calls for it (2.4.0).
 */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Started, Waited } from "../support/mcp-answers.ts";
import type { Lines, Reply } from "../support/rpc-lines.ts";
import { speakLines } from "../support/rpc-lines.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "by-hand", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
};

interface Task {
  readonly resultType?: string;
  readonly taskId: string;
  readonly status: string;
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
  readonly result?: { readonly structuredContent: Waited };
}

const ask = (lines: Lines, method: string, params: object): Promise<Reply> =>
  lines.ask(method, { ...params, _meta: META });

async function call<T>(lines: Lines, name: string, args: object): Promise<T> {
  const { result, error } = await ask(lines, "tools/call", { name, arguments: args });
  if (result === undefined) throw new Error(error?.message);
  return (result["structuredContent"] ?? result) as T;
}

async function get(lines: Lines, taskId: string): Promise<Task> {
  const { result, error } = await ask(lines, "tasks/get", { taskId });
  if (result === undefined) throw new Error(error?.message);
  return result as unknown as Task;
}

/** As a client does it: again and again. */
async function settled(lines: Lines, taskId: string): Promise<Task> {
  return await eventually(
    "the task is over",
    async () => {
      const task = await get(lines, taskId);
      return task.status === "working" ? null : task;
    },
    30_000,
  );
}

test("a wait as a task outlives the MCP child and the daemon, and is told once it is over", () =>
  inHome("", async (home) => {
    const first = speakLines(home);
    const discovered = await ask(first, "server/discover", {});
    expect(JSON.stringify(discovered.result)).toContain("io.modelcontextprotocol/tasks");
    const env = { PRACTICE_PACE_MS: "1500" };
    const started = await call<Started>(first, "start_session", { agent: "practice", name: "w", prompt: "Hello", env });
    const task = await call<Task>(first, "wait_for_session", { session: "w", since: started.cursor });
    expect(task).toMatchObject({ resultType: "task", status: "working", ttlMs: null });
    process.kill(first.pid, "SIGKILL");
    await home.killDaemon();
    const second = speakLines(home);
    const done = await settled(second, task.taskId);
    expect(done).toMatchObject({
      status: "completed",
      result: { structuredContent: { done: true, reason: "turn-completed", woken: [{ name: "w" }] } },
    });
    // It is what it is, however often it is asked for.
    expect((await get(second, task.taskId)).result).toMatchObject({ structuredContent: { done: true } });
    // What is over already needs no task.
    expect(await call<Waited>(second, "wait_for_session", { session: "w" })).toMatchObject({ done: true });
    await home.json("end", "w", "--when", "now");
    expect(await second.end()).toBe(0);
  }));

test("a task for all of several counts those that woke before; it can be cancelled, and has an end", () =>
  inHome("", async (home) => {
    const lines = speakLines(home);
    await home.run(["start", "command", "--name", "early", "--wait", "--", "true"]);
    const late = await home.json<Started>("start", "command", "--name", "late", "--", "sleep", "600");
    const args = { session: "early", also: ["late"], mode: "all", for: ["exited"] };
    const task = await call<Task>(lines, "wait_for_session", args);
    expect(task.status).toBe("working");
    const waiting = settled(lines, task.taskId);

    const other = await call<Task>(lines, "wait_for_session", { session: "late", timeout_seconds: 600 });
    expect(other).toMatchObject({ status: "working", ttlMs: 600_000 });
    const held = get(lines, other.taskId);
    expect((await ask(lines, "tasks/update", { taskId: other.taskId, inputResponses: {} })).error).toBeUndefined();
    expect((await ask(lines, "tasks/cancel", { taskId: other.taskId })).error).toBeUndefined();
    expect((await held).status).toBe("cancelled");
    expect((await get(lines, other.taskId)).status).toBe("cancelled");

    const brief = await call<Task>(lines, "wait_for_session", { session: "late", timeout_seconds: 0.2 });
    expect((await settled(lines, brief.taskId)).result?.structuredContent).toMatchObject({
      done: false,
      reason: "timeout",
    });
    for (const taskId of ["x", "", 5]) {
      const { error } = await ask(lines, "tasks/get", { taskId });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("not the id of a task") as string });
    }

    await home.json("end", late.session_id, "--when", "now", "--grace", "0");
    const { woken } = (await waiting).result?.structuredContent ?? { woken: [] };
    expect(woken.map(({ name, reason }) => [name, reason])).toEqual([
      ["early", "exited"],
      ["late", "exited"],
    ]);
    expect(await lines.end()).toBe(0);
  }));
