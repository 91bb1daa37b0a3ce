/**
 * Runs a program of the user's, in a process group of its own, with no shell.
 * When the time is up, the whole group is killed. What it prints is not kept;
 * only how its standard error begins, for the sentence that tells of a failure.
 */
import { spawn } from "node:child_process";
import { stripTerminal } from "../../platform/terminal-text.ts";

export interface ProgramCall {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** For its standard input. */
  readonly input: string;
}

const MOST_ERROR_BYTES = 500;

/** Resolves when it ends with 0; rejects with a sentence otherwise. */
export function runOwnProgram({ argv, environment, input }: ProgramCall, signal: AbortSignal): Promise<string> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, detached: true, stdio: ["pipe", "ignore", "pipe"] });
    let said = Buffer.alloc(0);
    const kill = (): void => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It ended by itself at this moment.
      }
    };
    const finish = (): void => {
      signal.removeEventListener("abort", kill);
      // What it left in the background may hold it open.
      child.stderr.destroy();
    };
    child.stderr.on("data", (bytes: Buffer) => {
      if (said.length < MOST_ERROR_BYTES) said = Buffer.concat([said, bytes]).subarray(0, MOST_ERROR_BYTES);
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    child.once("error", (error) => {
      finish();
      reject(new Error(`${program} could not be run (${error.message})`));
    });
    child.once("exit", (code, killedBy) => {
      // What it wrote last is read before it is judged.
      setImmediate(() => {
        finish();
        if (code === 0) return resolve(`${program} ended with 0`);
        const [line = ""] = stripTerminal(said.toString()).trim().split("\n");
        const how = code === null ? `was killed by ${killedBy ?? "a signal"}` : `ended with ${code}`;
        reject(new Error(`${program} ${how}${line === "" ? "" : `: ${line}`}`));
      });
    });
    if (signal.aborted) kill();
    else signal.addEventListener("abort", kill);
  });
}
