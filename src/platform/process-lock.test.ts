import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireProcessLock } from "./process-lock.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-lock-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What another process gets. */
function elsewhere(path: string): string {
  const program = `import { acquireProcessLock } from ${JSON.stringify(join(import.meta.dirname, "process-lock.ts"))};
    console.log(acquireProcessLock(process.argv[1]) === null ? "held" : "free");`;
  return execFileSync(process.execPath, ["--input-type=module-typescript", "-e", program, path], {
    encoding: "utf8",
  }).trim();
}

test("one holder at a time, and a killed holder holds nothing", () => {
  const path = join(directory, "lock");
  expect(elsewhere(path)).toBe("free");
  const lock = acquireProcessLock(path);
  expect(elsewhere(path)).toBe("held");
  lock?.release();
  expect(elsewhere(path)).toBe("free");
});

test("a lock outlives the last reference to it, garbage collection included", () => {
  const path = join(directory, "lock");
  const program = `import { acquireProcessLock } from ${JSON.stringify(join(import.meta.dirname, "process-lock.ts"))};
    import { execFileSync } from "node:child_process";
    acquireProcessLock(process.argv[1]);
    for (let round = 0; round < 5; round++) { globalThis.gc(); await new Promise((resolve) => setTimeout(resolve, 10)); }
    const other = "import { acquireProcessLock } from " + ${JSON.stringify(JSON.stringify(join(import.meta.dirname, "process-lock.ts")))} + "; console.log(acquireProcessLock(process.argv[1]) === null ? 'held' : 'free');";
    process.stdout.write(execFileSync(process.execPath, ["--input-type=module-typescript", "-e", other, process.argv[1]]));`;
  const answer = execFileSync(
    process.execPath,
    ["--expose-gc", "--input-type=module-typescript", "-e", program, path],
    { encoding: "utf8" },
  );
  expect(answer.trim()).toBe("held");
});
