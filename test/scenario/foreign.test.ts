/**
 * Agents that Reeve did not start: they are listed, nothing is done
 * to them, and a conversation that one of them holds is not resumed. A program
 * that sleeps stands in for Claude Code; the files are in the form it writes.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readProcess } from "../../src/platform/process-table.ts";
import { openBoard } from "../board/board-rig.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const GOLDEN = join(import.meta.dirname, "..", "golden", "claude", "2.1.325", "transcript.jsonl");
const ID = "11111111-1111-4111-8111-111111111111";

interface Foreign {
  readonly foreign: readonly Readonly<Record<string, unknown>>[];
}

let home: TestHome;
let stranger: ChildProcess;
beforeAll(async () => {
  home = createTestHome();
  const program = join(home.dir, "stand-in");
  writeFileSync(program, "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)' && exit\nexec sleep 600\n");
  chmodSync(program, 0o755);
  home.configure(`[agent.claude]\ncommand = "${program}"\n`);
  const claude = join(home.dir, "claude");
  copyFileSync("/bin/sleep", claude);
  stranger = spawn(claude, ["600"], { cwd: "/", env: { HOME: home.dir }, stdio: "ignore" });
  await eventually(
    "it runs",
    () => stranger.pid !== undefined && readFileSync(`/proc/${stranger.pid}/cmdline`).length > 0,
  );
});
afterAll(async () => {
  stranger.kill("SIGKILL");
  await home.dispose();
});

function write(path: string, fields: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(fields));
}

test("a process without our mark is listed, with how to bring it under care", async () => {
  expect(await home.json<Foreign>("list", "--foreign")).toEqual({
    foreign: [
      expect.objectContaining({ agent: "claude", held_by: "process", pid: stranger.pid, native_id: null, cwd: "/" }),
    ],
  });
  const pid = stranger.pid ?? 0;
  const status = { pid, procStart: readProcess(pid)?.startTicks, sessionId: ID, cwd: "/project", status: "idle" };
  write(join(home.dir, ".claude", "sessions", `${pid}.json`), status);
  const { foreign } = await home.json<Foreign>("list", "--foreign");
  expect(foreign).toMatchObject([{ native_id: ID, cwd: "/project", activity: "idle" }]);
  const { stdout } = await home.run(["list", "--foreign"]);
  expect(stdout).toContain(`reeve start claude --resume ${ID}`);
});

test("what Reeve started is not foreign, and what is foreign is no session", async () => {
  await home.json("start", "claude", "--name", "ours");
  const { foreign } = await home.json<Foreign>("list", "--foreign");
  expect(foreign.map(({ pid }) => pid)).toEqual([stranger.pid]);
  expect((await home.list()).map(({ name }) => name)).toEqual(["ours"]);
});

test("the board shows it below the sessions, and does nothing to it", async () => {
  const board = await openBoard(home, { columns: 100, rows: 30 });
  try {
    await board.shows(/^Not started by Reeve:\n {2}\(claude [0-9]+\) claude idle/m);
    await board.press("G");
    await board.shows(new RegExp(`--resume\\s+${ID}`));
    await board.press("x");
    await board.shows("Reeve did not start it, and only looks at it.");
  } finally {
    await board.close();
  }
  expect(stranger.exitCode).toBeNull();
});

test("a conversation that the vendor's daemon holds is not resumed a second time", async () => {
  const { observability } = await home.session("ours");
  const { native_id: nativeId, transcript_path: transcript } = observability as Readonly<Record<string, string>>;
  mkdirSync(dirname(transcript ?? ""), { recursive: true });
  copyFileSync(GOLDEN, transcript ?? "");
  const job = join(home.dir, ".claude", "jobs", "ab12cd34", "state.json");
  write(job, { state: "working", sessionId: nativeId, cwd: "/" });
  await home.run(["restart", "ours", "--grace", "0", "--timeout", "1"]);
  const held = await eventually("it is not started", async () => {
    const session = await home.session("ours");
    return session.state === "error" && session;
  });
  expect(held.reason).toContain("Its conversation is open in job ab12cd34 of Claude Code's own daemon");
  rmSync(job);
  await home.run(["restart", "ours", "--grace", "0", "--timeout", "1"]);
  await eventually("it runs again", async () => (await home.session("ours")).state === "running");
});
