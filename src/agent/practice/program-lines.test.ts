/** The practice program without a terminal. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CONVERSATION, newDirectory, PROGRAM, wholeFilesIn } from "./pane-under-test.ts";

let directory: string;
beforeEach(() => {
  directory = newDirectory();
  mkdirSync(join(directory, "spool"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function run(input: string | Buffer, ...args: string[]) {
  const required = [
    "--conversation",
    CONVERSATION,
    "--transcript",
    join(directory, "t.jsonl"),
    "--spool",
    join(directory, "spool"),
  ];
  const env = { PATH: process.env["PATH"] ?? "", PRACTICE_PACE_MS: "10" };
  return spawnSync(process.execPath, [PROGRAM, ...required, ...args], {
    input,
    env,
    encoding: "utf8",
    timeout: 30_000,
  });
}

test("lines are prompts and answers, and the end of the input is the end", { timeout: 60_000 }, () => {
  const { status, stdout } = run("hello\r\n\nask ls\ny\nask rm\n");
  expect(status).toBe(0);
  expect(stdout.split("\n").slice(2)).toEqual([
    '● You said: "hello".',
    "● I thought about it.",
    "● Nothing was changed: this is only practice.",
    'Run "ls"? [y/n]',
    "$ ls",
    "  (practice: only said, not run)",
    '● I ran "ls".',
    'Run "rm"? [y/n]',
    '● I did not run "rm".',
    "",
  ]);
  expect(wholeFilesIn(join(directory, "spool"))).toHaveLength(12);
});

test("a prompt in the arguments goes first; malformed bytes are no matter", { timeout: 60_000 }, () => {
  const { status, stdout } = run(Buffer.from([0xff, 0x1b, 0x5b, 0x0a, 0x63, 0x72, 0x61, 0x73, 0x68]), "first");
  expect(status).toBe(70);
  expect(stdout).toContain('You said: "first".');
});

test("a bad command line is refused with the usage", { timeout: 60_000 }, () => {
  for (const args of [["--pace", "fast"], ["--nonsense"], ["two", "prompts"], ["--conversation", "me"]]) {
    const { status, stderr } = run("", ...args);
    expect({ status, usage: stderr.includes("Usage: practice") }).toEqual({ status: 2, usage: true });
  }
});
