/** What `npm test` ends with: the status of the step that failed, whatever else goes wrong then. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readProcess } from "../../src/platform/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { runProgram } from "../support/test-home.ts";

const RUN_STEPS = join(import.meta.dirname, "..", "..", "script", "run-steps.ts");

let outer: string;
beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), "reeve-steps-"));
});
afterEach(() => rmSync(outer, { recursive: true, force: true }));

const ENVIRONMENT = { PATH: process.env["PATH"] ?? "" };

function run(...scripts: readonly string[]): ReturnType<typeof runProgram> {
  return runProgram(process.execPath, commandFor(scripts), ENVIRONMENT);
}

function commandFor(scripts: readonly string[]): readonly string[] {
  const steps = scripts.map((script, index) => ({ name: `step ${index + 1}`, argv: ["sh", "-c", script] }));
  const options = JSON.stringify({ root: outer, temporary: join(outer, "rv-"), steps });
  const program = `const { runSteps } = await import(${JSON.stringify(RUN_STEPS)}); process.exitCode = runSteps(${options});`;
  return ["--input-type=module", "-e", program];
}

test("all steps run, in one temporary directory, which goes", async () => {
  const { status, stdout } = await run('touch "$TMPDIR/here"', 'test -e "$TMPDIR/here"');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ok: step 1 .*\nok: step 2 .*\n$/);
  expect(readdirSync(outer)).toEqual([]);
});

test("the first that fails is the last, and its status is what comes out", async () => {
  const { status, stdout } = await run("exit 7", "true");
  expect(status).toBe(7);
  expect(stdout).toMatch(/^FAILED: step 1 .*\n$/);
  expect((await run("kill -9 $$")).status).toBe(1);
});

test("what a run that was broken off left is ended, and a run that goes on is left alone", async () => {
  const pidFile = join(outer, "pid");
  const first = spawn(process.execPath, commandFor([`echo $$ > '${pidFile}'; exec sleep 600`]), {
    env: ENVIRONMENT,
    stdio: "ignore",
  });
  const ended = once(first, "close");
  const pid = await eventually("the first run is under way", () => Number(readIfThere(pidFile)) || null);
  const directory = readdirSync(outer).find((name) => name.startsWith("rv-"));
  // A second one beside it ends nothing.
  expect((await run("true")).stderr).toBe("");
  expect(readProcess(pid)).not.toBeNull();
  first.kill("SIGKILL");
  await ended;
  rmSync(pidFile);
  const { status, stderr } = await run("true");
  expect(status).toBe(0);
  expect(stderr).toBe(
    `An earlier run was broken off. Its processes are ended now, and its directory ${join(outer, directory ?? "")} is removed.\n`,
  );
  await eventually("its process is gone", () => readProcess(pid) === null);
  expect(readdirSync(outer)).toEqual([]);
});

test("without a place for temporary files: one sentence that says what to do", async () => {
  rmSync(outer, { recursive: true });
  const { status, stderr } = await run("true");
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^Nothing can be written to .*: make it writable, with some free space, and run this again\. .*\n$/,
  );
});

test("also while something still writes below the temporary directory", async () => {
  // As fast as it can, so that the directory is never empty for long.
  const busy = `
    const { existsSync, mkdirSync, writeFileSync } = require("node:fs");
    for (let i = 0; !existsSync("stop"); i++) {
      try {
        mkdirSync(process.env.TMPDIR + "/" + (i % 1000) + "/a/b", { recursive: true });
      } catch {} // removed while it was made
    }
    writeFileSync("stopped", "");`;
  writeFileSync(join(outer, "busy.cjs"), busy);
  const failing = `'${process.execPath}' busy.cjs > /dev/null 2>&1 & while ! test -e "$TMPDIR/999"; do :; done; exit 7`;
  try {
    expect((await run(failing)).status).toBe(7);
  } finally {
    writeFileSync(join(outer, "stop"), "");
    await eventually("the writer has ended", () => existsSync(join(outer, "stopped")));
  }
});
