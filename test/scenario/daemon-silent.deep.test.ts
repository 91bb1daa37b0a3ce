/** A daemon that is there and does not answer: commands say so, say what to do, and end; a wait goes on. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const BIN = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;
let stopped = 0;
beforeEach(async () => {
  home = createTestHome();
  await home.json("start", "command", "--name", "held", "--", "sleep", "600");
  stopped = await home.daemonPid();
});
afterEach(async () => {
  process.kill(stopped, "SIGCONT");
  await home.dispose();
});

test(
  "list, send and start say which process is stopped and how to continue it, and end with 69",
  { timeout: 90_000 },
  async () => {
    process.kill(stopped, "SIGSTOP");
    const commands = [["list"], ["send", "held", "x"], ["start", "command", "--", "true"]];
    const outcomes = await Promise.all(commands.map((args) => home.run(args)));
    for (const { status, stderr } of outcomes) {
      expect(status).toBe(69);
      const [first = "", ...rest] = stderr.trimEnd().split("\n");
      expect(first).toBe(
        `The daemon (process ${stopped}) is stopped, so it does not answer; continue it with: kill -CONT ${stopped}. Still waiting.`,
      );
      expect(rest[0]).toBe(first.replace(" Still waiting.", ""));
    }
    expect(outcomes[1]?.stderr).toContain("--idempotency-key");
    process.kill(stopped, "SIGCONT");
    expect((await home.run(["list"])).status).toBe(0);
  },
);

test("wait says it, goes on, and wakes once the daemon does", { timeout: 90_000 }, async () => {
  process.kill(stopped, "SIGSTOP");
  const waiting = spawn(BIN, ["wait", "held", "--for", "exited", "--json"], { env: home.environment });
  let chatter = "";
  let answer = "";
  waiting.stderr.setEncoding("utf8").on("data", (text: string) => (chatter += text));
  waiting.stdout.setEncoding("utf8").on("data", (text: string) => (answer += text));
  const ended = new Promise<number | null>((resolve) => waiting.once("close", resolve));
  await eventually("it says that it waits for the daemon", () => chatter.includes(`kill -CONT ${stopped}`), 30_000);
  // Longer than the others have patience.
  const { status } = await home.run(["list"]);
  expect(status).toBe(69);
  expect(waiting.exitCode).toBeNull();
  process.kill(stopped, "SIGCONT");
  await home.json("end", "held", "--when", "now", "--grace", "0");
  expect(await ended).toBe(0);
  expect(JSON.parse(answer)).toMatchObject({ done: true, reason: "exited" });
});

test("a command that takes long by itself is left in peace", { timeout: 60_000 }, async () => {
  const waited = await home.run(["wait", "held", "--timeout", "6"]);
  expect(waited.status).toBe(75);
  expect(waited.stderr).not.toContain("does not answer");
});

/** Every command that asks the daemon; what they would do does not matter here. */
const COMMANDS = [
  ["list"],
  ["data", "held"],
  ["data", "held", "-f"],
  ["send", "held", "x"],
  ["start", "command", "--", "true"],
  ["adopt", "practice", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"],
  ["wait", "held"],
  ["wait"],
  ["messages", "held"],
  ["seen", "held"],
  ["approvals"],
  ["approve", "held"],
  ["deny", "held"],
  ["attach", "held", "--json"],
  ["pause", "held"],
  ["resume", "held"],
  ["restart", "held"],
  ["end", "held"],
  ["rename", "held", "other"],
  ["events"],
  ["events", "--follow", "--since", "0"],
  ["explain", "held"],
  ["doctor"],
  ["daemon", "status"],
  ["daemon", "stop"],
  ["daemon", "restart"],
  ["demo"],
] as const;

test("every command says it within 3 s, with what to do", { timeout: 120_000 }, async () => {
  process.kill(stopped, "SIGSTOP");
  const beganAt = performance.now();
  await home.run(["--version"]);
  // What it takes here to start a program and be scheduled, while others run.
  const startMs = performance.now() - beganAt;
  for (const words of COMMANDS) {
    const child = spawn(BIN, words, { env: home.environment, stdio: ["ignore", "ignore", "pipe"] });
    const startedAt = performance.now();
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const ended = new Promise((resolve) => child.once("close", resolve));
    try {
      await eventually(`${words.join(" ")} says it`, () => said.includes(`kill -CONT ${stopped}`), 10_000);
      expect({ words, ms: performance.now() - startedAt }).toEqual({
        words,
        ms: expect.toSatisfy((ms: number) => ms < 3_000 + 5 * startMs),
      });
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  }
});
