/** Over MCP: a session reaches itself and what it started. Whatever else it tries is refused and recorded. */
import { request } from "node:http";
import { expect, test } from "vitest";
import { operations } from "../../src/operation/operations.ts";
import type { Operation } from "../../src/operation/contract.ts";
import { CATALOGUE } from "../../src/surface/mcp/catalogue.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Listed, Started } from "../support/mcp-answers.ts";
import { connectSocket, connectStdio } from "../support/mcp-client.ts";
import { shakeHands, speakLines } from "../support/rpc-lines.ts";
import { passOf } from "../support/session-caller.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";

async function start(home: TestHome, name: string): Promise<SessionRow> {
  const session = await home.json<SessionRow>("start", "command", "--name", name, "--", "sleep", "600");
  await eventually(`${name} runs`, async () => (await home.session(name)).state === "running");
  return session;
}

/** Every tool that names sessions, called on that one; those that anybody may call on any are left out. */
function callsOn(target: string): readonly { readonly name: string; readonly args: Record<string, unknown> }[] {
  const all = operations as readonly Operation[];
  return CATALOGUE.flatMap(({ tool }) => {
    const { names = [], example = {}, callers } = all.find(({ name }) => name === tool.name) ?? {};
    if (names.length === 0 || callers?.session === "any") return [];
    const args: Record<string, unknown> = { ...example };
    const { properties = {} } = tool.inputSchema as { properties?: Record<string, { type?: string }> };
    for (const field of names) args[field] = properties[field]?.type === "array" ? [target] : target;
    return [{ name: tool.name, args }];
  });
}

async function refusals(home: TestHome) {
  return (await home.events()).filter(({ type }) => type === "call-refused");
}

function inside(home: TestHome, { session_id }: SessionRow, pass: string): Record<string, string> {
  return {
    REEVE_SESSION_ID: session_id,
    REEVE_SOCKET: home.socketPath.replace(/reeve\.sock$/, "call.sock"),
    REEVE_PASS: pass,
  };
}

test.concurrent("a session tries every tool on another one, over stdio and the socket: 0 accepted, each recorded", () =>
  inHome("", async (home) => {
    const a = await start(home, "a");
    const b = await start(home, "b");
    const pass = await passOf(home, a);
    const calls = callsOn(b.session_id);
    expect(calls.length).toBeGreaterThan(12);
    const over = [
      await connectStdio(home, { environment: inside(home, a, pass) }),
      await connectSocket(home, { pass }),
    ];
    for (const mcp of over) {
      expect((await mcp.ok<Listed>("list_sessions")).sessions.map(({ name }) => name)).toEqual(["a"]);
      for (const { name, args } of calls) {
        const { code, next } = await mcp.fails(name, args);
        expect([name, code]).toEqual([name, "not-allowed"]);
        expect(next).toContain("Nothing was changed");
      }
    }
    await eventually("each is recorded", async () => (await refusals(home)).length === 2 * calls.length);
    for (const { caller, data } of await refusals(home)) {
      expect(caller).toBe(`session:${a.session_id}`);
      expect(data).toMatchObject({ code: "not-allowed", target: expect.stringContaining(b.session_id) as string });
    }
    expect(await home.session("b")).toMatchObject({ state: "running", desired: "running" });

    // What it starts is its own, in its own directory, and it may end it.
    for (const [index, mcp] of over.entries()) {
      const name = `child-${index}`;
      const child = await mcp.ok<Started & SessionRow>("start_session", {
        agent: "command",
        args: ["sleep", "9"],
        name,
      });
      expect(child).toMatchObject({ parent_session_id: a.session_id });
      expect(await mcp.ok("end_session", { session: name, when: "now" })).toMatchObject({ done: true });
      await mcp.close();
    }
  }));

test.concurrent("without a pass, with a forged one and with one of a session that ended, no tool answers", () =>
  inHome("", async (home) => {
    const a = await start(home, "a");
    const pass = await passOf(home, a);
    const forged = `${pass.slice(0, -4)}AAAA`;
    const stdio = await connectStdio(home, { environment: inside(home, a, forged) });
    expect(await stdio.fails("list_sessions")).toMatchObject({ code: "unknown-pass" });
    expect(await stdio.fails("end_session", { session: "a", when: "now" })).toMatchObject({ code: "unknown-pass" });
    await stdio.close();
    await expect(connectSocket(home, { pass: forged })).rejects.toThrow();
    await expect(connectSocket(home, { pass: "" })).rejects.toThrow();
    await eventually("they are recorded", async () => (await refusals(home)).length >= 4);
    expect(new Set((await refusals(home)).map(({ caller }) => caller))).toEqual(new Set([null]));
    expect(new Set((await refusals(home)).map(({ data }) => data["code"]))).toEqual(
      new Set(["unknown-pass", "no-pass"]),
    );

    // A variable that was lost on the way does not make a session the operator.
    const lost = await home.run(["mcp"], { environment: { REEVE_SESSION_ID: a.session_id }, input: "" });
    expect(lost).toMatchObject({ status: 77, stdout: "" });

    const own = await connectStdio(home, { environment: inside(home, a, pass) });
    await own.ok("get_session", { session: "a" });
    await home.json("end", "a", "--when", "now");
    expect(await own.fails("get_session", { session: "a" })).toMatchObject({ code: "unknown-pass" });
    expect((await own.client.listTools()).tools.length).toBeGreaterThan(10);
    await own.close();
  }));

test.concurrent("an agent that hides its environment from MCP servers does not make them the operator's", () =>
  inHome("", async (home) => {
    const a = await start(home, "a");
    await start(home, "b");
    const pass = await passOf(home, a);
    const through = 'env -i PATH="$PATH" HOME="$HOME" "$0" mcp; exit 0';
    const lines = speakLines(home, { environment: inside(home, a, pass), through });
    await shakeHands(lines);
    const { result } = await lines.ask("tools/call", { name: "list_sessions", arguments: {} });
    const { sessions } = (result?.["structuredContent"] ?? { sessions: [] }) as Listed;
    expect(sessions.map(({ name }) => name)).toEqual(["a"]);
    expect(await lines.end()).toBe(0);
  }));

test.concurrent("a page in a browser, and whoever uses another name for this machine, is not served at /mcp", () =>
  inHome("", async (home) => {
    await home.daemonPid();
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const ask = async (extra: Record<string, string>): Promise<number> => {
      const options = { socketPath: home.socketPath, path: "/mcp", method: "POST", headers: { ...headers, ...extra } };
      return await new Promise((resolve, reject) => {
        const sent = request(options, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.once("error", reject);
        sent.end(body);
      });
    };
    expect(await ask({ host: "localhost" })).toBe(200);
    expect(await ask({ host: "localhost", origin: "http://localhost" })).toBe(403);
    expect(await ask({ host: "reeve.example.org" })).toBe(403);
  }));
