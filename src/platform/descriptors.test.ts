/** Without descriptors: what is held back still reads /proc, and without it nothing is called gone. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { descriptorLimit, descriptorsInUse } from "./descriptors.ts";

/** In a process of its own with 40 descriptors: uses up all of them, then looks at itself three times. */
function looksWithout(before: string): unknown {
  const script = `
    import { openSync } from "node:fs";
    import { descriptorLimit, descriptorsInUse, reserveDescriptors } from ${JSON.stringify(join(import.meta.dirname, "descriptors.ts"))};
    import { isAlive, listProcesses, readProcess } from ${JSON.stringify(join(import.meta.dirname, "process-table.ts"))};
    const { startTicks } = readProcess(process.pid);
    ${before}
    const free = descriptorLimit() - descriptorsInUse();
    try { for (;;) openSync("/dev/null", "r"); } catch {}
    const tell = (look) => { try { return look(); } catch (error) { return error.code; } };
    console.log(JSON.stringify({
      hadSome: free > 1,
      hasNone: tell(() => descriptorLimit() - descriptorsInUse() <= 1), // counting takes one of those held back
      alive: [1, 2, 3].map(() => tell(() => isAlive(process.pid, startTicks))),
      isListed: tell(() => listProcesses().some(({ pid }) => pid === process.pid)),
    }));`;
  const args = ["--nofile=40:40", process.execPath, "--input-type=module", "--eval", script];
  return JSON.parse(execFileSync("prlimit", args, { encoding: "utf8" }));
}

it("looks at processes with the descriptors it held back, again and again", () => {
  const answer = { hadSome: true, hasNone: true, alive: [true, true, true], isListed: true };
  expect(looksWithout("reserveDescriptors();")).toEqual(answer);
});

it("says that it could not look where it held none back", () => {
  const none = "processes-unreadable";
  expect(looksWithout("")).toMatchObject({ alive: [none, none, none], isListed: none });
});

it("counts what is in use", () => {
  const before = descriptorsInUse();
  const one = openSync("/dev/null", "r");
  expect(descriptorsInUse()).toBe(before + 1);
  closeSync(one);
  expect(descriptorLimit()).toBeGreaterThan(before);
});
