/**
 * Runs the steps of a check one after the other, up to the first that fails. They share a temporary directory of this
 * run alone: other runs, and whatever else uses /tmp, must not be mistaken for its leftovers.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { endEarlierRuns, signRun } from "./earlier-run.ts";

export interface Step {
  readonly name: string;
  readonly argv: readonly string[];
}

/** Returns the exit status: that of the step that failed, or 0. `temporary` is what the directory's path begins with. */
export function runSteps({
  root,
  temporary,
  steps,
}: {
  readonly root: string;
  readonly temporary: string;
  readonly steps: readonly Step[];
}): number {
  const directory = makeDirectory(temporary);
  if (directory === null) return 1;
  try {
    signRun(directory);
    for (const done of endEarlierRuns(temporary)) console.error(done);
    for (const step of steps) {
      const status = run(step, root, directory);
      if (status !== 0) return status;
    }
    return 0;
  } finally {
    remove(directory);
  }
}

function makeDirectory(temporary: string): string | null {
  try {
    return mkdtempSync(temporary);
  } catch (error) {
    const where = dirname(temporary);
    console.error(
      `Nothing can be written to ${where}: make it writable, with some free space, and run this again. ${String(error)}`,
    );
    return null;
  }
}

/** A step that failed may have left processes that still write there; that must not hide how it ended. */
function remove(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    console.error(`${directory} could not be removed; delete it yourself. ${String(error)}`);
  }
}

function run({ name, argv }: Step, root: string, directory: string): number {
  const started = performance.now();
  const [command = "", ...args] = argv;
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TMPDIR: directory },
  });
  console.log(`${status === 0 ? "ok" : "FAILED"}: ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  // Null: it could not be run, or a signal ended it.
  return status ?? 1;
}
