/** Child processes of the benchmark: run to their end and timed, or kept and ended by pid. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
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

/** As long as anything here may take to start on a busy machine. */
const LONGEST_START_MS = 60_000;

/** Starts a program that says `ready` on descriptor 3. */
export async function keepProgram(
  scope: Scope,
  script: string,
  options: {
    readonly args?: readonly string[];
    readonly nodeOptions?: readonly string[];
    readonly environment: Environment;
  },
): Promise<Kept> {
  const startedAt = Date.now();
  const begun = performance.now();
  const argv = [...(options.nodeOptions ?? []), script, ...(options.args ?? [])];
  const child = spawn(process.execPath, argv, {
    cwd: "/",
    env: options.environment,
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

async function firstLine(child: ChildProcess): Promise<string> {
  const pipe = child.stdio[3];
  if (!(pipe instanceof Readable)) throw new Error("there is no descriptor 3");
  let complaint = "";
  child.stderr?.on("data", (bytes: Buffer) => (complaint = `${complaint}${bytes.toString()}`.slice(-2_000)));
  let text = "";
  const late = AbortSignal.timeout(LONGEST_START_MS);
  pipe.on("data", (bytes: Buffer) => (text += bytes.toString()));
  while (!text.includes("\n")) {
    if (pipe.readableEnded || pipe.destroyed) return `${text}${complaint}`;
    await Promise.race([
      once(pipe, "data", { signal: late }),
      once(pipe, "end", { signal: late }),
      once(child, "error", { signal: late }),
    ]);
  }
  return text.split("\n", 1)[0] ?? "";
}
