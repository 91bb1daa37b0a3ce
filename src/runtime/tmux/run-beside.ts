/** Runs a program where the sessions of a tmux server are: as a child of that server, with a socket of its own to the daemon. */
import { randomBytes } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { BesideRun } from "../contract.ts";
import { unreachable } from "../driver/control-connection.ts";
import { quote } from "../driver/quote.ts";
import type { Reach } from "../driver/reach.ts";

/** What the program is told, in one line. */
export interface BesideOrder {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
}

export const BESIDE_SOCKET = /^beside-[0-9a-f]+\.sock$/;
const MOST_BYTES = 1_048_576;

export async function runBeside(
  { within, program, cwd, environment, input, timeoutMs }: BesideRun,
  where: { readonly reach: () => Promise<Reach>; readonly runDir: string; readonly besideProgram: string },
): Promise<string> {
  const reach = await where.reach();
  if (reach.status !== "connected") throw unreachable(reach.evidence);
  const path = join(where.runDir, `beside-${randomBytes(6).toString("hex")}.sock`);
  const order: BesideOrder = { argv: [...within, process.execPath, program], cwd, environment, input };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    server.close();
    converse(socket, order, resolve, reject);
  });
  let taken: Socket | null = null;
  server.on("connection", (socket) => void (taken ??= socket));
  const timer = setTimeout(() => reject(notRun(`it took longer than ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    await new Promise<void>((listening, failed) => server.once("error", failed).listen(path, listening));
    chmodSync(path, 0o600);
    const command = [process.execPath, where.besideProgram, path].map(shellWord).join(" ");
    // tmux expands formats in it, and a shell runs it.
    const answer = await reach.connection.request([
      { text: `run-shell -b ${quote(`exec ${command}`.replaceAll("#", "##"))}` },
    ]);
    if (answer.error !== null) throw notRun(answer.error);
    return await promise;
  } finally {
    clearTimeout(timer);
    server.close();
    (taken as Socket | null)?.destroy();
    rmSync(path, { force: true });
  }
}

function converse(
  socket: Socket,
  order: BesideOrder,
  resolve: (stdout: string) => void,
  reject: (error: Error) => void,
): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("error", () => {}); // its close says it
  socket.on("data", (chunk) => {
    text += String(chunk);
    if (text.length > MOST_BYTES) reject(notRun("it printed too much"));
  });
  socket.once("close", () => {
    try {
      resolve((JSON.parse(text) as { readonly printed: string }).printed);
    } catch {
      reject(notRun("it ended without an answer"));
    }
  });
  socket.write(`${JSON.stringify(order)}\n`);
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function notRun(why: string): ReeveError {
  return new ReeveError({
    code: "not-run-beside",
    kind: "unavailable",
    message: `Nothing could be tried where the session runs: ${why}.`,
    details: { why },
  });
}
