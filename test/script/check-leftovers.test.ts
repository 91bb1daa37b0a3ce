/** A run's check looks at what that run left, and at nothing else on the machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../support/test-home.ts";

const ENDED = "All of that was ended or removed now: the next run begins without it.";
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

test("a directory that the run left is named and removed", async () => {
  mkdirSync(join(root, "reeve-test-left"));
  expect(await check()).toMatchObject({
    status: 1,
    stderr: `left behind: directory (${root}/reeve-test-left)\n${ENDED}\n`,
  });
  expect(await check()).toMatchObject({ status: 0, stderr: "" });
});

test("the test file is told that left it", async () => {
  const own = join(root, "f123456");
  mkdirSync(join(own, "reeve-test-left"), { recursive: true });
  writeFileSync(join(root, ".test-files"), `f123456 ${join(import.meta.dirname, "some.test.ts")}\n`);
  const homed = spawn("sleep", ["60"], { env: { HOME: join(own, "reeve-test-left") }, stdio: "ignore" });
  const ended = once(homed, "exit");
  expect(await check()).toMatchObject({
    status: 1,
    stderr: [
      `left behind: process ${homed.pid}: sleep 60 (${own}/reeve-test-left/, started by test/script/some.test.ts)`,
      `left behind: directory (${own}/reeve-test-left, started by test/script/some.test.ts)`,
      `${ENDED}\n`,
    ].join("\n"),
  });
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(existsSync(join(own, "reeve-test-left"))).toBe(false);
});

test("a process that the run left is named and ended, by its home or its command line", async () => {
  const homed = spawn("sleep", ["60"], { env: { HOME: join(root, "home") }, stdio: "ignore" });
  const named = spawn("sh", ["-c", "read line", join(root, "file")], { env: {}, stdio: ["pipe", "ignore", "ignore"] });
  const ended = Promise.all([once(homed, "exit"), once(named, "exit")]);
  const { status, stderr } = await check();
  expect(status).toBe(1);
  expect(stderr.trim().split("\n").toSorted()).toEqual(
    [
      `left behind: process ${homed.pid}: sleep 60 (${root}/home/)`,
      `left behind: process ${named.pid}: sh -c read line ${root}/file (${root}/file)`,
      ENDED,
    ].toSorted(),
  );
  expect(await ended).toEqual([
    [null, "SIGKILL"],
    [null, "SIGKILL"],
  ]);
});
