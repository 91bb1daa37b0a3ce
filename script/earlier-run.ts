/**
 * A run of the checks that was broken off cannot clear up: its processes live on, and its directory stays. The next run
 * finds both by the directory's file `.run`, which holds the pid and the start time of the run: `4711 123456`.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAlive, readProcess } from "../src/platform/process-table.ts";
import { leftoversIn } from "./leftovers.ts";

const RUN = ".run";

/** Says in the directory whose it is. */
export function signRun(directory: string): void {
  writeFileSync(join(directory, RUN), `${process.pid} ${readProcess(process.pid)?.startTicks ?? ""}`);
}

/** `temporary` is what the paths of such directories begin with. Returns what was done, in words. */
export function endEarlierRuns(temporary: string): readonly string[] {
  return readdirSync(dirname(temporary))
    .filter((name) => name.startsWith(basename(temporary)))
    .map((name) => join(dirname(temporary), name))
    .filter(isBrokenOff)
    .map(endRun);
}

function isBrokenOff(directory: string): boolean {
  try {
    const [pid = "", startTicks = ""] = readFileSync(join(directory, RUN), "utf8").split(" ");
    return !isAlive(Number(pid), startTicks);
  } catch {
    // Not signed yet, or somebody else's.
    return false;
  }
}

function endRun(directory: string): string {
  for (const { end } of leftoversIn(directory)) end();
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
    return `An earlier run was broken off. Its processes are ended now, and its directory ${directory} is removed.`;
  } catch (error) {
    return `An earlier run was broken off, and ${directory} could not be removed; delete it yourself. ${String(error)}`;
  }
}
