/**
 * Runs before each test file: gives it a temporary directory of its own. What is left in that directory, or names it,
 * was left by this file, and check-leftovers.ts can say so.
 */
import { appendFileSync, mkdtempSync, readdirSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect } from "vitest";
import { TEST_FILES } from "./leftovers.ts";

/** Files of one worker share its environment: each begins at the run's own directory again. */
const root = (process.env["REEVE_TEST_ROOT"] ??= tmpdir());
// Short, because sockets lie below it.
const directory = mkdtempSync(join(root, "f"));
process.env["TMPDIR"] = directory;
// Only in a run of all: without one the root is /tmp, where such a list would stay.
if (process.env["REEVE_FAILED_TESTS"] !== undefined)
  appendFileSync(join(root, TEST_FILES), `${basename(directory)} ${expect.getState().testPath}\n`);

afterAll(() => {
  if (readdirSync(directory).length === 0) rmdirSync(directory);
});
