/**
 * Runs the tests of one floor, and each file that failed once more, alone. A file that passes then is told as flaky,
 * and the run passes; with more than three such files, or one that fails again, the run is red.
 *
 *   node script/run-tests.ts gate|deep|all [vitest's own arguments]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIfThere } from "../test/support/read-if-there.ts";
import type { FailedTest } from "./failed-tests.ts";
import { parseFloor } from "./test-floor.ts";

const MOST_FLAKY_FILES = 3;
const VITEST = join(import.meta.dirname, "..", "node_modules", "vitest", "vitest.mjs");

const [floor, ...args] = process.argv.slice(2);
process.env["REEVE_TEST_FLOOR"] = parseFloor(floor);
process.exitCode = run(args);

function run(options: readonly string[]): number {
  const first = vitest(options);
  if (first.status === 0) return 0;
  if (!first.ended) return red(first.status, "The run was broken off.");
  const files = [...new Set(first.failed.map(({ file }) => file))];
  const known = files.filter((file) => file !== null);
  if (known.length < files.length || known.length === 0)
    return red(first.status, "An error belongs to no test file, so nothing can be run again.");
  if (known.length > MOST_FLAKY_FILES)
    return red(first.status, `${known.length} files failed; only up to ${MOST_FLAKY_FILES} are run once more.`);
  for (const file of known) {
    console.log(`\n${file} failed: running it once more, alone.`);
    // vitest takes a path as a part of one: the whole path names this file only.
    const again = vitest([...options, join(process.cwd(), file)]);
    if (again.status !== 0) return red(again.status, `${file} failed again.`);
  }
  console.log("");
  for (const { file, test, reason } of first.failed) console.log(`flaky: ${file} > ${test}: ${reason}`);
  return 0;
}

function red(status: number, why: string): number {
  console.log(`\n${why}`);
  return status;
}

interface Outcome {
  readonly status: number;
  /** All files were run, with whatever result. */
  readonly ended: boolean;
  readonly failed: readonly FailedTest[];
}

function vitest(options: readonly string[]): Outcome {
  const directory = mkdtempSync(join(tmpdir(), "failed-"));
  const list = join(directory, "tests");
  try {
    const { status } = spawnSync(process.execPath, [VITEST, "run", ...options], {
      stdio: "inherit",
      env: { ...process.env, REEVE_FAILED_TESTS: list },
    });
    const lines = (readIfThere(list) ?? "").split("\n").filter((line) => line !== "");
    const told = lines.map((line) => JSON.parse(line) as FailedTest | string);
    return {
      // Null: a signal ended it.
      status: status ?? 1,
      ended: told.at(-1) === "failed",
      failed: told.filter((line) => typeof line !== "string"),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
