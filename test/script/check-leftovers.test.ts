/** Issue 7, point 34: a run's check looks at what that run left, and at nothing else on the machine. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../support/test-home.ts";

const SCRIPT = join(import.meta.dirname, "..", "..", "script", "check-leftovers.ts");

let outer: string;
let root: string;

beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), "reeve-check-"));
  root = join(outer, "run");
  mkdirSync(root);
});
afterEach(() => rmSync(outer, { recursive: true, force: true }));

function check(): ReturnType<typeof runProgram> {
  return runProgram(process.execPath, [SCRIPT], { PATH: process.env["PATH"] ?? "", TMPDIR: root });
}

test("a directory beside the run's own root is somebody else's", async () => {
  mkdirSync(join(outer, "reeve-test-of-another-run"));
  expect(await check()).toMatchObject({ status: 0, stderr: "" });
});

test("a directory that the run left is named", async () => {
  mkdirSync(join(root, "reeve-test-left"));
  expect(await check()).toMatchObject({ status: 1, stderr: `left behind: directory ${root}/reeve-test-left\n` });
});

test("a process that the run left is named, by its home or its command line", async () => {
  const homed = spawn("sleep", ["60"], { env: { HOME: join(root, "home") }, stdio: "ignore" });
  const named = spawn("sh", ["-c", "read line", join(root, "file")], { env: {}, stdio: ["pipe", "ignore", "ignore"] });
  try {
    const { status, stderr } = await check();
    expect(status).toBe(1);
    expect(stderr.trim().split("\n").toSorted()).toEqual(
      [
        `left behind: process ${homed.pid}: sleep 60`,
        `left behind: process ${named.pid}: sh -c read line ${root}/file`,
      ].toSorted(),
    );
  } finally {
    homed.kill("SIGKILL");
    named.kill("SIGKILL");
  }
});
