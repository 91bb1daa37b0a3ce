/**
 * Target 16: a tool call through `reeve mcp`, against the same operation over
 * the socket; and the memory of an idle `reeve mcp`, of which each agent has
 * one, against an idle Node.
 */
import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { createBenchHome } from "./support/bench-home.ts";
import type { Environment } from "./support/child.ts";
import { createHttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare } from "./support/measure.ts";
import { memoryOf, untilQuiet } from "./support/processes.ts";
import type { Scope } from "./support/scope.ts";
import { restingSession, seedSessions } from "./support/seed.ts";
import type { Target } from "./support/target.ts";

const SESSIONS = 100;

export const mcpCall: Target = {
  number: 16,
  title: "a tool call through reeve mcp",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    const sessions = Array.from({ length: SESSIONS }, (_, index) => restingSession(home.dir, index + 1));
    await seedSessions(home.dir, sessions);
    const daemon = await home.startDaemon();
    await untilQuiet(daemon.pid, 5_000);
    const environment = { ...home.environment, PATH: `${dirname(process.execPath)}:${home.environment["PATH"] ?? ""}` };
    const mcp = openMcp(scope, build.cli, environment);
    await mcp.ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    });
    await untilQuiet(mcp.pid, 5_000);
    const idle = { mcp: memoryOf(mcp.pid), node: memoryOf(await idleNode(scope, environment)) };

    const client = createHttpClient(scope, home.socketPath);
    const [first] = (await client.getJson<{ sessions: { session_id: string }[] }>("/v1/sessions?all=true")).sessions;
    const session = first?.session_id ?? "";
    const mail = { to: "operator", subject: "A note", body: "The parser is done." };
    const tool = (name: string, args: object) => timed(() => mcp.ask("tools/call", { name, arguments: args }));
    const samples = await alternate({ count: rounds(200, 40), warmUp: 20, pauseMs: 0 }, [
      async () => ({ get: await timed(() => client.get(`/v1/sessions/${session}`)) }),
      async () => ({ getTool: await tool("get_session", { session }) }),
      async () => ({ list: await timed(() => client.get("/v1/sessions?all=true")) }),
      async () => ({ listTool: await tool("list_sessions", { all: true }) }),
      async () => ({ mail: await timed(() => client.postJson("/v1/mail", mail)) }),
      async () => ({ mailTool: await tool("send_mail", mail) }),
    ]);
    const limit = atMost(1.5);
    const common = { target: 16, baselineName: "the same over the socket", limit };
    add(
      compare({ ...common, what: "send_mail", subject: samples("mailTool"), baseline: samples("mail") }),
      compare({ ...common, what: "get_session", subject: samples("getTool"), baseline: samples("get") }),
      compare({
        ...common,
        what: `list_sessions, ${SESSIONS}`,
        subject: samples("listTool"),
        baseline: samples("list"),
      }),
      compare({
        target: 16,
        what: "idle reeve mcp, resident memory (RSS)",
        unit: "MB",
        subject: [idle.mcp.rss],
        baseline: [idle.node.rss],
        baselineName: "node -e, idle",
        note: `private ${idle.mcp.private.toFixed(1)} against ${idle.node.private.toFixed(1)} MB`,
      }),
    );
  },
};

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

interface Mcp {
  readonly pid: number;
  ask(method: string, params: object): Promise<void>;
}

/** By hand: what a client does with an answer is not Reeve's. */
function openMcp(scope: Scope, cli: string, env: Environment): Mcp {
  const child = spawn(cli, ["mcp"], { cwd: "/", env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  scope.defer(async () => {
    child.stdin.end();
    await exited;
  });
  const waiting = new Map<number, (line: string) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, error, result } = JSON.parse(line) as { id: number; error?: object; result?: { isError?: true } };
    waiting.get(id)?.(error === undefined && result?.isError !== true ? "" : line);
    waiting.delete(id);
  });
  let last = 0;
  return {
    pid: child.pid ?? 0,
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        const id = (last += 1);
        waiting.set(id, (wrong) => (wrong === "" ? resolve() : reject(new Error(wrong))));
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      }),
  };
}

async function idleNode(scope: Scope, env: Environment): Promise<number> {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { env, stdio: ["pipe", "ignore", "ignore"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  scope.defer(async () => {
    child.stdin.end();
    await exited;
  });
  const pid = child.pid ?? 0;
  await untilQuiet(pid, 5_000);
  return pid;
}
