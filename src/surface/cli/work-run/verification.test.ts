import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isDead, listProcesses, readCommandLine } from "../../../platform/process-table.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { runVerification } from "./verification.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "reeve-verify-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

const environment = { PATH: process.env["PATH"], TOLD: "yes", REEVE_PASS: "secret" };
const run = (script: string, more: { timeoutMs?: number; graceMs?: number } = {}) =>
  runVerification({ argv: ["sh", "-c", script], cwd: dir, environment, timeoutMs: 60_000, ...more });

/** Processes that sleep for so long. */
function living(seconds: string): readonly number[] {
  return listProcesses().flatMap((row) => {
    const line = isDead(row) ? "" : (readCommandLine(row.pid) ?? "");
    return line.startsWith("sleep") && line.includes(seconds) ? [row.pid] : [];
  });
}

test("the exit code and the end of the output", async () => {
  expect(await run("echo fine; exit 0")).toEqual({ exitCode: 0, text: "fine" });
  expect(await run("echo out; echo wrong >&2; exit 3")).toEqual({ exitCode: 3, text: "out\nwrong" });
  const long = await run("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1");
  expect(long.exitCode).toBe(1);
  expect(long.text.length).toBeLessThanOrEqual(8_192);
  expect(long.text.endsWith("line 19999")).toBe(true);
});

test("it runs in the checkout, with the user's environment but without Reeve's variables, and reads nothing", async () => {
  const { text } = await run('pwd; echo "$TOLD,$REEVE_PASS"; cat; echo end');
  expect(text.split("\n")).toEqual([dir, "yes,", "end"]);
});

test("its words are not read by a shell", async () => {
  const argv = ["printf", "%s|", "$HOME", "a b", "*", "'", '"'];
  expect(await runVerification({ argv, cwd: dir, environment, timeoutMs: 60_000 })).toEqual({
    exitCode: 0,
    text: "$HOME|a b|*|'|\"|",
  });
});

test("a program or directory that is not there", async () => {
  const missing = { argv: ["/nowhere/verify"], cwd: dir, environment, timeoutMs: 60_000 };
  expect((await runVerification(missing)).exitCode).toBe(127);
  const nowhere = await runVerification({ ...missing, argv: ["true"], cwd: join(dir, "nowhere") });
  expect(nowhere.exitCode).toBeNull();
  expect(nowhere.text).toContain("could not be started");
});

test("a command that hangs is ended with all of its group, politely if it lets itself", async () => {
  const polite = await run("trap 'echo told; exit 1' TERM; echo begun; sleep 600.25 & wait", { timeoutMs: 300 });
  expect(polite).toEqual({
    exitCode: null,
    text: "The command did not end within 0.3 s and was ended. The end of what it printed:\nbegun\ntold",
  });
  const deaf = await run("trap '' TERM; echo begun; sleep 600.25; sleep 600.25", { timeoutMs: 300, graceMs: 300 });
  expect(deaf.exitCode).toBeNull();
  await eventually("nothing is left", () => living("600.25").length === 0);
});

test("what it leaves in its group is ended with it", async () => {
  expect(await run("sleep 600.5 & echo left")).toEqual({ exitCode: 0, text: "left" });
  await eventually("nothing is left", () => living("600.5").length === 0);
});

test("it ends when whoever started it is killed", async () => {
  const program = join(dir, "starter.ts");
  const module = pathToFileURL(join(import.meta.dirname, "verification.ts")).href;
  const ready = join(dir, "ready");
  writeFileSync(
    program,
    `import { runVerification } from ${JSON.stringify(module)};
     await runVerification({ argv: ["sh", "-c", "echo x > ${ready}; sleep 600.75"], cwd: "/", environment: process.env, timeoutMs: 600000 });`,
  );
  const starter = spawn(process.execPath, [program], { stdio: "ignore" });
  await eventually("it runs", () => living("600.75").length === 1 && readFileSync(ready, "utf8") === "x\n");
  starter.kill("SIGKILL");
  await eventually("nothing is left", () => living("600.75").length === 0);
});
