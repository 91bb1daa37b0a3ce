/** Child processes of the benchmark: run to their end and timed, or kept and ended by pid. */
import { spawn, type ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import type { Scope } from "./scope.ts";

export type Environment = Readonly<Record<string, string>>;

/** From the call to the notice of its end, in milliseconds; it must succeed. */
export function timeProgram(command: string, args: readonly string[], environment: Environment): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: "/", env: environment, stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      const ms = performance.now() - startedAt;
      if (code === 0) resolve(ms);
      else reject(new Error(`${command} ${args.slice(0, 4).join(" ")} ended with ${signal ?? code}`));
    });
  });
}

export interface Kept {
  readonly pid: number;
  /** By the wall clock, as events are. */
  readonly startedAt: number;
  /** From the spawn to its first line on descriptor 3. */
  readonly readyMs: number;
  kill(): Promise<void>;
}

export interface KeepOptions {
  readonly args?: readonly string[];
  readonly environment: Environment;
}

/** As long as anything here may take to start on a busy machine. */
const LONGEST_START_MS = 60_000;

/** Starts a program of Node's that says `ready` on descriptor 3. */
export async function keepProgram(scope: Scope, script: string, options: KeepOptions): Promise<Kept> {
  const startedAt = Date.now();
  const begun = performance.now();
  const child = spawn(process.execPath, [script, ...(options.args ?? [])], {
    cwd: "/",
    env: { ...options.environment, REEVE_READY_FD: "3" },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exited;
  };
  scope.defer(kill);
  const line = await firstLine(child);
  const readyMs = performance.now() - begun;
  if (line !== "ready" || child.pid === undefined) throw new Error(`${script} did not start: ${line}`);
  return { pid: child.pid, startedAt, readyMs, kill };
}

/** What it says first on descriptor 3; of one that says nothing, its complaint. */
function firstLine(child: ChildProcess): Promise<string> {
  const pipe = child.stdio[3];
  if (!(pipe instanceof Readable)) throw new Error("there is no descriptor 3");
  let text = "";
  let complaint = "";
  child.stderr?.on("data", (bytes: Buffer) => (complaint = `${complaint}${bytes.toString()}`.slice(-2_000)));
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => resolve(`not within ${LONGEST_START_MS / 1_000} s ${complaint}`), LONGEST_START_MS);
    const settle = (line: string): void => {
      clearTimeout(late);
      resolve(line);
    };
    pipe.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      if (text.includes("\n")) settle(text.split("\n", 1)[0] ?? "");
    });
    child.once("error", reject);
    child.once("close", () => settle(`${text}${complaint}`.trim()));
  });
}
