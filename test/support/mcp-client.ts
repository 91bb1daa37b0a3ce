/** The official MCP client, connected to the real `reeve mcp` of a test's home, or to `/mcp` of its daemon. */
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fetchOver } from "./socket-fetch.ts";
import type { TestHome } from "./test-home.ts";

const PROGRAM = join(import.meta.dirname, "..", "..", "bin", "reeve");

export interface Tools {
  readonly client: Client;
  /** Calls a tool that must succeed. */
  ok<T = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<T>;
  /** Calls a tool that must fail. */
  fails(name: string, args?: Record<string, unknown>): Promise<{ code: string; message: string; next: string }>;
  close(): Promise<void>;
}

export interface Connected extends Tools {
  /** The process id of `reeve mcp`. */
  readonly pid: number;
  /** What it wrote to stderr. */
  readonly stderr: () => string;
}

export type Era = "modern" | "legacy";

export interface StdioOptions {
  readonly era?: Era;
  readonly environment?: Record<string, string>;
  /** Of `reeve mcp`. */
  readonly args?: readonly string[];
  /** Before it connects. */
  readonly prepare?: (client: Client) => void;
}

export async function connectStdio(
  home: TestHome,
  { era = "modern", environment = {}, args = [], prepare = () => undefined }: StdioOptions = {},
): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: PROGRAM,
    args: ["mcp", ...args],
    env: { ...home.environment, ...environment },
    cwd: home.dir,
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (bytes: Buffer) => (stderr += bytes.toString()));
  const client = clientOf(era);
  prepare(client);
  await client.connect(transport);
  return { ...around(client), pid: transport.pid ?? 0, stderr: () => stderr };
}

export interface SocketOptions {
  readonly era?: Era;
  /** Calls as this session, on the sessions' own socket. */
  readonly pass?: string;
}

/** The daemon must run. */
export async function connectSocket(home: TestHome, { era = "modern", pass }: SocketOptions = {}): Promise<Tools> {
  const socket = pass === undefined ? home.socketPath : join(home.dir, "run", "call.sock");
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: fetchOver(socket),
    ...(pass === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${pass}` } } }),
  });
  const client = clientOf(era);
  await client.connect(transport);
  return around(client);
}

export function clientOf(era: Era): Client {
  return new Client(
    { name: "reeve-test", version: "1" },
    { versionNegotiation: { mode: era === "modern" ? "auto" : "legacy" } },
  );
}

export function around(client: Client): Tools {
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    const [content] = result.content;
    const text = content?.type === "text" ? content.text : "";
    if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(result.structuredContent))
      throw new Error(`${name} says one thing in its text and another in its structured content: ${text}`);
    return { isError: result.isError === true, value: JSON.parse(text) as unknown };
  };
  return {
    client,
    async ok<T>(name: string, args = {}) {
      const { isError, value } = await call(name, args);
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(value)}`);
      return value as T;
    },
    async fails(name, args = {}) {
      const { isError, value } = await call(name, args);
      if (!isError) throw new Error(`${name} did not fail: ${JSON.stringify(value)}`);
      return value as { code: string; message: string; next: string };
    },
    close: () => client.close(),
  };
}
