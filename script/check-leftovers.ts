/**
 * After the tests: no process and no directory of theirs may be left. What is left is named, with the test file that
 * left it, and ended, so that the next run does not inherit it. Looks only at the run's own temporary root (TMPDIR,
 * made by check.ts): whatever else is on the machine is none of its business.
 */
import { tmpdir } from "node:os";
import { eventually } from "../test/support/eventually.ts";
import { leftoversIn } from "./leftovers.ts";

/** What was killed a moment ago may still be ending. */
const PATIENCE_MS = 2_000;

await eventually("nothing is left", () => leftoversIn(tmpdir()).length === 0, PATIENCE_MS).catch(() => undefined);
const left = leftoversIn(tmpdir());
for (const { what } of left) console.error(`left behind: ${what}`);
for (const { end } of left) end();
if (left.length > 0) console.error("All of that was ended or removed now: the next run begins without it.");
process.exit(left.length === 0 ? 0 : 1);
