/** An orchestrating agent runs a worker through MCP, with the official client and the real daemon. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { Started, Waited } from "../support/mcp-answers.ts";
import { inHome } from "../support/in-home.ts";
import type { Era, Tools } from "../support/mcp-client.ts";
import { connectSocket, connectStdio } from "../support/mcp-client.ts";
import type { TestHome } from "../support/test-home.ts";

async function runWorker(home: TestHome, mcp: Tools): Promise<void> {
  expect(mcp.client.getServerVersion()).toMatchObject({ name: "reeve" });
  expect(mcp.client.getInstructions()).toContain("start → wait → read → end");
  const { tools } = await mcp.client.listTools();
  expect(tools.length).toBeGreaterThan(15);
  expect(tools.every(({ outputSchema }) => outputSchema === undefined)).toBe(true);

  const cwd = home.dir;
  const started = await mcp.ok<Started>("start_session", { agent: "practice", name: "w", prompt: "Say hello", cwd });
  const first = await mcp.ok<Waited>("wait_for_session", { session: started.session_id, since: started.cursor });
  expect(first).toMatchObject({ done: true, reason: "turn-completed", asleep: [] });
  expect(first.woken[0]?.reply?.text).toMatch(/\S/);

  const sent = await mcp.ok<Started>("send_message", { session: "w", text: "And now in other words" });
  const second = await mcp.ok<Waited>("wait_for_session", { session: "w", since: sent.cursor });
  expect(second).toMatchObject({ done: true, reason: "turn-completed" });
  const data = await mcp.ok<{ messages: { role: string; text: string }[] }>("get_session_data", { session: "w" });
  expect(data.messages.at(-1)?.text).toBe(second.woken[0]?.reply?.text);

  const [listed] = (await mcp.ok<{ sessions: object[] }>("list_sessions")).sessions;
  expect(listed).toMatchObject({ session_id: started.session_id, state: "running", activity: "idle" });
  const whole = await mcp.ok("get_session", { session: "w" });
  expect(whole).toMatchObject({ ...listed });
  expect(whole).toHaveProperty("outputs_dir");
  expect(await mcp.ok("end_session", { session: "w" })).toMatchObject({ done: true });
  expect(await mcp.ok<{ sessions: unknown[] }>("list_sessions")).toMatchObject({ sessions: [] });
  expect(home.marked()).toEqual([]);
}

test.each<Era>(["modern", "legacy"])("start, wait, send, read, end over stdio (%s protocol)", (era) =>
  inHome("", async (home) => {
    const mcp = await connectStdio(home, { era });
    expect((await mcp.client.listTools()).tools.length).toBeGreaterThan(15);
    expect((await mcp.client.listResources()).resources.length).toBe(2);
    // None of that needed a daemon.
    expect(existsSync(home.socketPath)).toBe(false);
    await runWorker(home, mcp);
    await mcp.close();
    expect(mcp.stderr()).toBe("");
  }),
);

test.each<Era>(["modern", "legacy"])("start, wait, send, read, end over the socket (%s protocol)", (era) =>
  inHome("", async (home) => {
    await home.daemonPid();
    const mcp = await connectSocket(home, { era });
    await runWorker(home, mcp);
    await mcp.close();
  }),
);
