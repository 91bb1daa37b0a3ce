/** All that must hold before a change lands, cheapest first; stops at the first that does not. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const bin = (name: string): string => join(root, "node_modules", ".bin", name);

const steps: readonly { readonly name: string; readonly argv: readonly string[] }[] = [
  { name: "format", argv: [bin("oxfmt"), "--check"] },
  { name: "lint", argv: [bin("oxlint"), "--type-aware", "--deny-warnings"] },
  { name: "types", argv: [bin("tsc"), "-p", "."] },
  { name: "imports", argv: [process.execPath, "script/check-imports.ts"] },
  { name: "generated documents", argv: [process.execPath, "script/generate-docs.ts", "--check"] },
  { name: "tests", argv: [bin("vitest"), "run"] },
  { name: "nothing left behind", argv: [process.execPath, "script/check-leftovers.ts"] },
];

// Of this run alone: other runs, and whatever else uses /tmp, must not be mistaken for its leftovers. Short, because
// sockets lie below it.
const temporary = mkdtempSync("/tmp/rv-");
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

for (const { name, argv } of steps) {
  const started = performance.now();
  const [command = "", ...args] = argv;
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TMPDIR: temporary },
  });
  console.log(`${status === 0 ? "ok" : "FAILED"}: ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  if (status !== 0) process.exit(1);
}
