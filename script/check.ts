/**
 * All that must hold before a change lands, cheapest first; stops at the first that does not.
 *
 *   node script/check.ts [gate|deep|all]   which tests; the gate unless said otherwise
 */
import { join } from "node:path";
import { runSteps } from "./run-steps.ts";
import { parseFloor } from "./test-floor.ts";

const root = join(import.meta.dirname, "..");
const floor = parseFloor(process.argv[2] ?? "gate");
const bin = (name: string): string => join(root, "node_modules", ".bin", name);

process.exitCode = runSteps({
  root,
  // Short, because sockets lie below it.
  temporary: "/tmp/rv-",
  steps: [
    { name: "format", argv: [bin("oxfmt"), "--check"] },
    { name: "lint", argv: [bin("oxlint"), "--type-aware", "--deny-warnings"] },
    { name: "types", argv: [bin("tsc"), "-p", "."] },
    { name: "imports", argv: [process.execPath, "script/check-imports.ts"] },
    { name: "generated documents", argv: [process.execPath, "script/generate-docs.ts", "--check"] },
    { name: "tests", argv: [process.execPath, "script/run-tests.ts", floor] },
    { name: "nothing left behind", argv: [process.execPath, "script/check-leftovers.ts"] },
  ],
});
