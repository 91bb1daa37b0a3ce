/**
 * A terminal of 200 x 50 with a program in it, whose output arrives here as it
 * is written: tmux in control mode, on a socket of its own.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { runProgram } from "../../support/test-home.ts";
import type { Environment } from "./child.ts";
import type { Scope } from "./scope.ts";

export interface BoardTerminal {
  /** When (performance.now) something with this in it was written, after this call. */
  writes(text: string): Promise<number>;
  /** Of the program itself. */
  pid(): Promise<number>;
  /** Bytes that were written so far. */
  bytes(): number;
  close(): Promise<void>;
}

const LONGEST_WAIT_MS = 30_000;
let count = 0;

export function openBoardTerminal(
  scope: Scope,
  directory: string,
  environment: Environment,
  command: string,
): BoardTerminal {
  const socket = join(directory, `terminal-${(count += 1)}.sock`);
  const args = ["-S", socket, "-f", "/dev/null", "-C", "new-session", "-x", "200", "-y", "50", `exec ${command}`];
  const child = spawn("tmux", args, { env: { ...environment }, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const tmux = (...words: readonly string[]) => runProgram("tmux", ["-S", socket, ...words], environment);
  let written = 0;
  const waiting = new Map<string, (at: number) => void>();
  let unfinished = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const at = performance.now();
    const lines = `${unfinished}${text}`.split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("%output ")) continue;
      written += line.length;
      for (const [wanted, resolve] of waiting) {
        if (!line.includes(wanted)) continue;
        waiting.delete(wanted);
        resolve(at);
      }
    }
  });
  const close = async (): Promise<void> => {
    await tmux("kill-server");
    await exited;
  };
  scope.defer(close);
  return {
    writes: (text) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`the terminal never showed ${text}`)), LONGEST_WAIT_MS);
        waiting.set(text, (at) => {
          clearTimeout(late);
          resolve(at);
        });
      }),
    async pid() {
      return Number((await tmux("list-panes", "-a", "-F", "#{pane_pid}")).stdout.trim());
    },
    bytes: () => written,
    close,
  };
}
