/**
 * A command that waits ends when nobody is left to read its answer: its terminal hung up, or whoever
 * started it is gone. What it asked for stands.
 */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listProcesses, readCommandLine } from "../../src/platform/process-table.ts";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { pressInPane } from "../support/pane.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");
const UNREAD = 141;

let home: TestHome;
let name = "";
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
beforeEach(() => {
  name = `unread-${++count}`;
});
afterAll(() => home.dispose());

async function startBusy(): Promise<string> {
  const { session_id } = await home.json<{ session_id: string }>("start", "practice", "--name", name, "sleep 100");
  await eventually("it works", async () => (await askSession(home, name))?.["activity"] === "working");
  return session_id;
}

const isBeingEnded = (): Promise<unknown> =>
  eventually("its end is recorded", async () => (await askSession(home, name))?.desired === "stopped");

const statusOf = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once("exit", resolve));

/** Of the commands that name this session. */
function pidsOf(verb: string): readonly number[] {
  return listProcesses()
    .filter(({ state }) => state !== "Z")
    .map(({ pid }) => pid)
    .filter((pid) => {
      const line = readCommandLine(pid);
      return line.includes("bin/reeve") && line.includes(`${verb} ${name}`) && !line.includes("sh -c");
    });
}

const appears = (verb: string): Promise<number> =>
  eventually(`reeve ${verb} ${name} runs`, () => pidsOf(verb)[0] ?? false);
const isGone = (verb: string): Promise<unknown> =>
  eventually(`reeve ${verb} ${name} is gone`, () => pidsOf(verb).length === 0, 20_000);

describe("whoever started it closed its output", () => {
  test("end ends, and the end goes on", async () => {
    await startBusy();
    const ending = spawn(REEVE, ["end", name], { env: home.environment, stdio: ["ignore", "pipe", "ignore"] });
    await isBeingEnded();
    const status = statusOf(ending);
    ending.stdout.destroy();
    expect(await status).toBe(UNREAD);
    expect(await askSession(home, name)).toMatchObject({ desired: "stopped", activity: "working" });
  });

  test.each([["wait"], ["send", "more", "--wait"], ["events", "--follow"]])("%s ends", async (verb, ...words) => {
    await startBusy();
    const args = [verb, name, ...words];
    const waiting = spawn(REEVE, args, { env: home.environment, stdio: ["ignore", "pipe", "ignore"] });
    const status = statusOf(waiting);
    waiting.stdout.destroy();
    expect(await status).toBe(UNREAD);
    expect(await askSession(home, name)).toMatchObject({ desired: "running", activity: "working" });
  });
});

describe("its parent died and left it behind in a pipe", () => {
  test("it ends if the reader died too, and otherwise goes on", async () => {
    const id = await startBusy();
    const copy = join(home.dir, "copy");
    const [lost, read] = [`'${REEVE}' wait ${name} | sleep 1000`, `'${REEVE}' wait '${name}' | cat > ${copy}`];
    const shells = [lost, read].map((line) => spawn("sh", ["-c", line], { env: home.environment, stdio: "ignore" }));
    await eventually("both run", () => pidsOf("wait").length === 2);
    const children = (parent: number | undefined): readonly { readonly pid: number }[] =>
      listProcesses().filter(({ ppid }) => ppid === parent);
    const [reader] = children(shells[0]?.pid).filter(({ pid }) => readCommandLine(pid).includes("sleep"));
    for (const shell of shells) shell.kill("SIGKILL");
    process.kill(reader?.pid ?? 0, "SIGKILL");
    await eventually("one is gone", () => pidsOf("wait").length === 1, 20_000);
    await pressInPane(home, id, "Escape");
    await isGone("wait");
    await eventually("the other told", () => readFileSync(copy, "utf8").includes("turn-interrupted"));
  });
});

describe("its terminal hung up", () => {
  test.each([
    ["end in the foreground", "end", (line: string) => `exec ${line}`],
    ["wait in the background, where no signal comes", "wait", (line: string) => `set -m; ${line} & exec sleep 1000`],
  ])("%s ends", async (_what, verb, shell) => {
    await startBusy();
    const socket = join(home.dir, `${name}.sock`);
    const line = shell(`'${REEVE}' ${verb} ${name}`);
    const tmux = (...args: readonly string[]) => runProgram("tmux", ["-S", socket, ...args], home.environment);
    expect(await tmux("-f", "/dev/null", "new-session", "-d", "bash", "-c", line)).toMatchObject({ status: 0 });
    await appears(verb);
    if (verb === "end") await isBeingEnded();
    await tmux("kill-server");
    await isGone(verb);
    const desired = verb === "end" ? "stopped" : "running";
    expect(await askSession(home, name)).toMatchObject({ desired, activity: "working" });
  });
});

test("an answer that nobody reads does not change the exit code", async () => {
  const id = await startBusy();
  const waited = runProgram("bash", ["-c", `'${REEVE}' wait ${name} | true; echo \${PIPESTATUS[0]}`], home.environment);
  await appears("wait");
  await pressInPane(home, id, "Escape");
  expect((await waited).stdout.trim()).toBe("11");
});
