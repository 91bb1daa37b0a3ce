/** A tmux runtime on a private socket in a directory of its own, and how to end all of it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/platform/clock.ts";
import { listProcesses, readCommandLine } from "../../src/platform/process-table.ts";
import type { Runtime } from "../../src/runtime/contract.ts";
import { type PanePlace, readPlace } from "../../src/runtime/tmux/pane-place.ts";
import type { RecordedPlace } from "../../src/runtime/tmux/pane-proof.ts";
import { createTmuxRuntime } from "../../src/runtime/tmux/tmux-runtime.ts";
import type { Place } from "../../src/session/session.ts";
import { removeCgroups } from "../support/cgroup-leftovers.ts";
import { eventually } from "../support/eventually.ts";
import { localGround, markedProcesses } from "./local-ground.ts";
import type { RuntimeFixture } from "./runtime-ground.ts";

export interface TmuxFixture extends RuntimeFixture {
  readonly runDir: string;
  tmux(...args: readonly string[]): string;
  serverPid(): number;
}

let count = 0;

/** What only this runtime may know of a place. */
export function panePlace(place: Place): PanePlace {
  const read = readPlace(place);
  if (read === null) throw new Error(`no place of this runtime: ${JSON.stringify(place)}`);
  return read;
}

export async function makeTmuxFixture(
  options: { readonly cgroups?: boolean; readonly recordedPlace?: RecordedPlace } = {},
): Promise<TmuxFixture> {
  const base = mkdtempSync(join(tmpdir(), "reeve-"));
  const runDir = join(base, "run");
  const workDir = join(base, "work");
  for (const directory of [runDir, workDir]) mkdirSync(directory, { mode: 0o700 });
  const instance = `t${process.pid}-${(count += 1)}`;
  const opened: Runtime[] = [];
  const open = (): Runtime => {
    const runtime = createTmuxRuntime({ instance, runDir, clock: systemClock, log: () => {}, ...options });
    opened.push(runtime);
    return runtime;
  };
  const socket = join(runDir, "tmux.sock");
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", socket, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const serverPid = (): number => JSON.parse(readFileSync(join(runDir, "tmux-server.json"), "utf8")).pid;
  const dispose = async (): Promise<void> => {
    for (const each of opened) await each.close();
    for (const row of listProcesses()) {
      if (readCommandLine(row.pid).includes(socket)) kill(row.pid);
    }
    // Again at each look: one that was just starting forks between a look and its kill. Twice nothing: while a look goes
    // through them, one can fork and end, and its child is in no list.
    let looks = 0;
    await eventually("everything of the fixture ended", () => {
      const left = markedProcesses(instance);
      left.forEach(kill);
      looks = left.length === 0 ? looks + 1 : 0;
      return looks === 2;
    });
    await removeCgroups(runDir);
    rmSync(base, { recursive: true, force: true });
  };
  const own = { runDir, tmux, serverPid, ...localGround(instance) };
  return { runtime: open(), instance, workDir, reopen: open, dispose, ...own };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended by itself meanwhile
  }
}
