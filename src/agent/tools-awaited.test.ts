import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Fields } from "../platform/json-fields.ts";
import { hookScript } from "./hook-script.ts";
import { readToolsLate, toolsAwaited } from "./tools-awaited.ts";

let directory: string;
let script: string;
let ready: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-tools-"));
  const awaited = toolsAwaited(directory, (sentence) => ({ says: sentence }));
  script = awaited.script.path;
  writeFileSync(script, awaited.script.content, { mode: 0o755 });
  const hook = hookScript(directory);
  writeFileSync(hook.path, hook.content, { mode: 0o755 });
  mkdirSync(join(directory, "spool"));
  ready = awaited.environment["REEVE_MCP_READY"] ?? "";
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A sleep that takes no time, counts itself, and does this at the third. */
function fakeSleep(third = ""): NodeJS.ProcessEnv {
  const bin = join(directory, "bin");
  mkdirSync(bin);
  const content = `#!/bin/sh\nprintf . >>"${directory}/slept"\n[ "$(cat "${directory}/slept")" = ... ] || exit 0\n${third}\n`;
  writeFileSync(join(bin, "sleep"), content, { mode: 0o755 });
  return { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
}

function run(env: NodeJS.ProcessEnv): {
  readonly status: number | null;
  readonly says: string;
  readonly slept: number;
} {
  const { status, stdout } = spawnSync(script, { env, encoding: "utf8" });
  const slept = spawnSync("cat", [join(directory, "slept")], { encoding: "utf8" }).stdout.length;
  return { status, says: stdout, slept };
}

test("it does not wait for a server that has told its tools", () => {
  writeFileSync(ready, String(process.pid));
  expect(run(fakeSleep())).toEqual({ status: 0, says: "", slept: 0 });
});

test("it waits until the server has told them, and a moment longer, and says nothing", () => {
  expect(run(fakeSleep(`printf %s ${process.pid} >"${ready}"`))).toEqual({ status: 0, says: "", slept: 3 + 5 });
});

test("what a dead server told counts no more; after its time it says so, and lets the agent go on", async () => {
  const dead = spawn("true");
  await new Promise((resolve) => dead.once("exit", resolve));
  writeFileSync(ready, String(dead.pid));
  const { status, says, slept } = run(fakeSleep());
  expect([status, slept]).toEqual([0, 50]);
  expect(JSON.parse(says)).toEqual({ says: expect.stringContaining("has not come up yet") as string });
  const [record = ""] = readdirSync(join(directory, "spool"));
  const told = JSON.parse(readFileSync(join(directory, "spool", record), "utf8")) as Fields;
  expect(readToolsLate(told)).toMatchObject({ toolsLate: true, detail: expect.stringContaining("5 s") as string });
});
