/**
 * Runs before each test file: gives it a temporary directory of its own. What is left in that directory, or names it,
 * was left by this file, and check-leftovers.ts can say so.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { STARTED_BY } from "./leftovers.ts";

/** Files of one worker share its environment: each begins at the run's own directory again. */
const root = (process.env["REEVE_TEST_ROOT"] ??= tmpdir());
// Short, because sockets lie below it.
const directory = mkdtempSync(join(root, "f"));
writeFileSync(join(directory, STARTED_BY), expect.getState().testPath ?? "");
process.env["TMPDIR"] = directory;

afterAll(() => {
  const isEmpty = readdirSync(directory).every((name) => name === STARTED_BY);
  if (isEmpty) rmSync(directory, { recursive: true, force: true });
});
