/** A tmux server of the benchmark's own, driven the plain way: one forked client per command. */
import { join } from "node:path";
import { runProgram } from "../../support/test-home.ts";
import { callerEnvironment } from "./bench-home.ts";
import { timeProgram } from "./child.ts";
import type { Scope } from "./scope.ts";

export interface RawTmux {
  /** Forks `tmux …` and waits for its end; milliseconds. */
  time(...args: readonly string[]): Promise<number>;
}

export async function startRawTmux(scope: Scope, directory: string): Promise<RawTmux> {
  const environment = callerEnvironment();
  const server = ["-S", join(directory, "raw-tmux.sock"), "-f", "/dev/null"];
  scope.defer(async () => void (await runProgram("tmux", [...server, "kill-server"], environment)));
  const time = (...args: readonly string[]): Promise<number> => timeProgram("tmux", [...server, ...args], environment);
  await time("new-session", "-d", "-s", "keeper", "-x", "200", "-y", "50", "sleep", "100000");
  return { time };
}
