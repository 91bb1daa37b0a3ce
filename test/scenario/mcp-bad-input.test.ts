/** Whatever a client sends, it gets a clear error, nothing changes, and the connection stays usable. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { connectSocket, connectStdio } from "../support/mcp-client.ts";
import type { Lines } from "../support/rpc-lines.ts";
import { shakeHands, speakLines } from "../support/rpc-lines.ts";

async function call(lines: Lines, name: string, args: object): Promise<Readonly<Record<string, unknown>>> {
  const { result, error } = await lines.ask("tools/call", { name, arguments: args });
  if (result === undefined) throw new Error(error?.message);
  const [content] = result["content"] as { text: string }[];
  expect(JSON.parse(content?.text ?? "")).toEqual(result["structuredContent"]);
  return { isError: result["isError"] === true, ...(result["structuredContent"] as object) };
}

test("an old client (2025-06-18), by hand: lists, starts, waits, ends; malformed lines are answered", () =>
  inHome("", async (home) => {
    const lines = speakLines(home);
    const hands = await shakeHands(lines);
    expect(hands.result).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "reeve" } });
    expect(String(hands.result?.["instructions"])).toContain("Every session you start must be ended");
    const { result } = await lines.ask("tools/list");
    expect(result).not.toHaveProperty("nextCursor");
    const tools = (result?.["tools"] ?? []) as { name: string }[];
    expect(tools.map(({ name }) => name)).toContain("wait_for_session");

    const begin = lines.replies.length;
    for (const line of ["{not json", "[]", '"text"', '{"jsonrpc":"1.0","id":1,"method":"ping"}', "\u0000\u0001", "{}"])
      lines.write(line);
    const ping = await lines.ask("ping");
    expect(ping.result).toEqual({});
    const refused = lines.replies.slice(begin).filter(({ error }) => error !== undefined);
    expect(refused.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [null, -32700],
      [null, -32600],
    ]);
    expect((await lines.ask("no/such/method")).error).toMatchObject({ code: -32601 });
    expect((await lines.ask("tools/call", { name: "start_sesion", arguments: {} })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("start_session") as string,
    });

    const started = await call(lines, "start_session", { agent: "practice", name: "w", prompt: "Say hello" });
    expect(await call(lines, "wait_for_session", { session: "w", since: started["cursor"] })).toMatchObject({
      done: true,
      reason: "turn-completed",
    });
    expect(await call(lines, "end_session", { session: "w" })).toMatchObject({ isError: false, done: true });
    expect(await lines.end()).toBe(0);
  }));

const WRONG: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ["get_session", {}, "bad-request"],
  ["get_session", { session: 5 }, "bad-request"],
  ["get_session", { session: "nobody" }, "unknown-session"],
  ["get_session", { session: ".." }, "bad-request"],
  ["get_session_data", { session: "done", tail: "100" }, "bad-request"],
  ["get_session_data", { session: "done", tail: 1_000_000 }, "bad-request"],
  ["list_sessions", { al: true }, "unknown-field"],
  ["list_sessions", { state: "asleep" }, "bad-request"],
  ["wait_for_session", { session: "nobody" }, "unknown-session"],
  ["wait_for_session", { session: "done", since: 999_999 }, "future-cursor"],
  ["wait_for_session", { session: "done", also: "other" }, "bad-request"],
  ["wait_for_session", { session: "done", also: [1] }, "bad-request"],
  ["wait_for_session", { session: "done", timeout_seconds: -1 }, "bad-request"],
  ["wait_for_session", { session: "done", for: ["lunch"] }, "bad-request"],
  ["send_message", { session: "done", text: "more" }, "session-ended"],
  ["send_message", { session: "done", text: { a: 1 } }, "bad-request"],
  ["start_session", { agent: "nobody-knows", cwd: "/" }, "unknown-agent"],
  ["start_session", { agent: "command", args: ["sleep", "1"], cwd: "/no/such/directory" }, "missing-directory"],
  ["start_session", { agent: "command", args: ["sleep", "1"], cwd: "/", env: { A: 1 } }, "bad-request"],
];

test("wrong arguments are refused with the same code over stdio and the socket, and change nothing", () =>
  inHome("", async (home) => {
    await home.run(["start", "command", "--name", "done", "--wait", "--", "true"]);
    await home.json("end", "done");
    const before = (await home.wishes()).length;
    for (const mcp of [await connectStdio(home), await connectSocket(home)]) {
      for (const [name, args, code] of WRONG) {
        const problem = await mcp.fails(name, args);
        expect([name, args, problem.code]).toEqual([name, args, code]);
        expect(problem.message).toMatch(/^[A-Z"a-z].*[.?]$/);
        expect(problem.next).toMatch(/\.$/);
      }
      await expect(mcp.client.callTool({ name: "end_everything", arguments: {} })).rejects.toThrow("the tools are");
      // An ended session has nothing to wait for; its end is told at once.
      expect(await mcp.ok("wait_for_session", { session: "done" })).toMatchObject({ done: true, reason: "exited" });
      // What a model leaves out it may write as null.
      expect(await mcp.ok("list_sessions", { all: true, role: null })).toMatchObject({ sessions: [{ name: "done" }] });
      await mcp.close();
    }
    expect((await home.wishes()).length).toBe(before);
  }));

test("an argument of 10 MB is refused, and the connection still works", () =>
  inHome("", async (home) => {
    await home.json("start", "practice", "--name", "w");
    const before = (await home.events()).filter(({ type }) => type === "message-admitted");
    const text = "x".repeat(10_000_000);
    const stdio = await connectStdio(home);
    expect(await stdio.fails("send_message", { session: "w", text })).toMatchObject({ code: "request-too-large" });
    expect(await stdio.ok("list_sessions")).toMatchObject({ sessions: [{ name: "w" }] });
    await stdio.close();
    const socket = await connectSocket(home);
    await expect(socket.client.callTool({ name: "send_message", arguments: { session: "w", text } })).rejects.toThrow();
    expect(await socket.ok("list_sessions")).toMatchObject({ sessions: [{ name: "w" }] });
    await socket.close();

    const lines = speakLines(home);
    await shakeHands(lines);
    lines.write(`{"jsonrpc":"2.0","id":77,"method":"tools/call","params":"${"y".repeat(40_000_000)}"}`);
    expect((await lines.ask("ping")).result).toEqual({});
    expect(lines.replies.find(({ error }) => error !== undefined)).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await lines.end()).toBe(0);
    expect((await home.events()).filter(({ type }) => type === "message-admitted")).toEqual(before);
    await home.json("end", "w", "--when", "now");
  }));

test("who waits for the tools is told once they are listed; who cannot be told is no reason to fail", () =>
  inHome("", async (home) => {
    const ready = join(home.dir, "tools-ready");
    const lines = speakLines(home, { environment: { REEVE_MCP_READY: ready } });
    await shakeHands(lines);
    expect(existsSync(ready)).toBe(false);
    await lines.ask("tools/list");
    await eventually("the file is there", () => existsSync(ready) && readFileSync(ready, "utf8") !== "");
    expect([readFileSync(ready, "utf8"), statSync(ready).mode & 0o777]).toEqual([String(lines.pid), 0o600]);
    expect(await lines.end()).toBe(0);

    const unheard = speakLines(home, { environment: { REEVE_MCP_READY: join(home.dir, "gone", "tools-ready") } });
    await shakeHands(unheard);
    await unheard.ask("tools/list");
    expect(await unheard.end()).toBe(0);
  }));
