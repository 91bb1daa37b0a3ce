/** `reeve mcp` as an old or a broken client sees it: lines that the test writes itself, and the lines that come back. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "./eventually.ts";
import type { TestHome } from "./test-home.ts";

export interface Reply {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Lines {
  readonly pid: number;
  /** Everything that came on stdout, in order. */
  readonly replies: readonly Reply[];
  write(line: string): void;
  ask(method: string, params?: object): Promise<Reply>;
  tell(method: string, params?: object): void;
  /** Closes stdin; answers the exit status. */
  end(): Promise<number | null>;
}

const PROGRAM = join(import.meta.dirname, "..", "..", "bin", "reeve");

/** `through`: a shell script that starts it, as "$0". */
export function speakLines(
  home: TestHome,
  { environment = {}, through }: { readonly environment?: Record<string, string>; readonly through?: string } = {},
): Lines {
  const [program, args] = through === undefined ? [PROGRAM, ["mcp"]] : ["/bin/sh", ["-c", through, PROGRAM]];
  const child = spawn(program, args, {
    env: { ...home.environment, ...environment },
    cwd: home.dir,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const replies: Reply[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => replies.push(JSON.parse(line) as Reply));
  let last = 0;
  const write = (line: string): void => void child.stdin.write(`${line}\n`);
  return {
    pid: child.pid ?? 0,
    replies,
    write,
    async ask(method, params) {
      const id = (last += 1);
      write(JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }));
      return await eventually(`${method} is answered`, () => replies.find((reply) => reply.id === id), 60_000);
    },
    tell: (method, params) =>
      write(JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) })),
    async end() {
      child.stdin.end();
      return await exited;
    },
  };
}

/** The handshake of 2025-06-18, as Codex and Gemini CLI do it. */
export async function shakeHands(lines: Lines): Promise<Reply> {
  const reply = await lines.ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "by-hand", version: "1" },
  });
  lines.tell("notifications/initialized");
  return reply;
}
