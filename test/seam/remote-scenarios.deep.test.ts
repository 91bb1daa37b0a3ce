/**
 * The main scenarios over a runtime that is far away: the real CLI, and the real daemon with the toy of
 * test/support/remote-runtime.ts as its only runtime. Each question takes 50 ms, answers overtake one another, and what
 * a session writes lies where only that runtime looks.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";

const DAEMON = join(import.meta.dirname, "..", "support", "remote-daemon.ts");

let home: TestHome;
let daemon: ChildProcess;
beforeEach(async () => {
  home = createTestHome();
  await startDaemon();
});
afterEach(() => home.dispose());

async function startDaemon(): Promise<void> {
  daemon = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", DAEMON], {
    env: home.environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (daemon.stdout === null) throw new Error("it has no output");
  const [line] = (await once(daemon.stdout, "data")) as [Buffer];
  expect(line.toString()).toBe("ready\n");
}

async function killDaemon(): Promise<void> {
  home.expectDeath(daemon.pid ?? 0);
  const ended = once(daemon, "exit");
  daemon.kill("SIGKILL");
  await ended;
}

const wait = (name: string, reason: string, since = "0"): Promise<object> =>
  home.json<object>("wait", name, "--for", reason, "--since", since, "--timeout", "30");
const typesOf = async (): Promise<readonly string[]> => (await home.events()).map(({ type }) => type);

describe("far away", { timeout: 90_000 }, () => {
  test("a turn, its transcript, and messages one after the other", async () => {
    await home.json("start", "practice", "--name", "talker", "Say hello");
    expect(await wait("talker", "turn-completed")).toMatchObject({ done: true });
    expect(await home.session("talker")).toMatchObject({
      state: "running",
      runtime: { kind: "remote", pid: null },
      reason: expect.stringMatching(/^Running as process \d+ far away\.$/),
    });
    for (const text of ["first", "second"]) await home.run(["send", "talker", text, "--timeout", "0"]);
    await eventually("three turns", async () => (await home.session("talker"))["turns"] === 3, 30_000);
    await eventually("it is idle", async () => (await home.session("talker"))["activity"] === "idle");
    const data = await home.json<{ source: string; messages: { role: string; text: string }[] }>("data", "talker");
    expect(data.source).toBe("transcript");
    expect(data.messages.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual([
      "Say hello",
      "first",
      "second",
    ]);
    const directory = String((await home.session("talker"))["outputs_dir"]);
    expect(readdirSync(directory).filter((name) => name === "spool" || name.endsWith(".jsonl"))).toEqual([]);
    const turns = (await typesOf()).filter((type) => type.startsWith("turn-"));
    expect(turns).toEqual(Array.from({ length: 3 }, () => ["turn-started", "turn-completed"]).flat());
  });

  test("a daemon that is killed leaves its sessions, and the next finds them and what they did meanwhile", async () => {
    await home.json("start", "practice", "--name", "survivor", "--env", "TOKEN=s3cret-value-1", "Say hello");
    await wait("survivor", "turn-completed");
    const sent = home.run(["send", "survivor", "say s3cret-value-1 slowly", "--timeout", "0"]);
    await sent;
    await killDaemon();
    await startDaemon();
    await eventually(
      "the second turn is over",
      async () => {
        const { turns, activity } = await home.session("survivor");
        return turns === 2 && activity === "idle";
      },
      30_000,
    );
    expect(await home.session("survivor")).toMatchObject({ state: "running", liveness: "running" });
    const types = await typesOf();
    expect(types).toContain("session-adopted");
    expect(types.filter((type) => type === "session-exited" || type === "runtime-lost")).toEqual([]);
    const { messages } = await home.json<{ messages: { role: string; text: string }[] }>("data", "survivor");
    expect(messages.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual([
      "Say hello",
      "say s3cret-value-1 slowly",
    ]);
  });

  test("a question that is asked and answered", async () => {
    await home.json("start", "practice", "--name", "asker", "ask to list files");
    expect(await wait("asker", "awaiting-approval")).toMatchObject({ done: true });
    expect(await home.json("approve", "asker")).toMatchObject({ state: "settled", decision: "approved" });
    expect(await wait("asker", "turn-completed")).toMatchObject({ done: true });
    expect((await typesOf()).filter((type) => type.startsWith("approval-"))).toEqual(
      expect.arrayContaining(["approval-requested", "approval-settled"]),
    );
  });

  test("restart resumes, suspend and resume, and an end that is proven", async () => {
    await home.json("start", "practice", "--name", "again", "Say hello");
    await wait("again", "turn-completed");
    await home.json("pause", "again", "--suspend");
    expect(await home.session("again")).toMatchObject({ state: "paused" });
    await home.json("resume", "again");
    await home.json("restart", "again");
    await eventually("it runs again", async () => (await home.session("again"))["activity"] === "idle", 30_000);
    await home.json("send", "again", "and again");
    await eventually("the turn counts", async () => (await home.session("again"))["turns"] === 2, 30_000);
    await home.json("end", "again");
    expect(await home.session("again")).toMatchObject({ state: "stopped", desired: "stopped" });
    expect(home.marked()).toEqual([]);
  });

  test("a crash is told once, and none of many starts at once is taken for one", async () => {
    const names = Array.from({ length: 6 }, (_, index) => `one-${index}`);
    await Promise.all(names.map((name) => home.json("start", "command", "--name", name, "--", "sleep", "100")));
    await home.json("start", "command", "--name", "dies", "--", "sh", "-c", "sleep 1; exit 7");
    await eventually("it died", async () => (await home.session("dies")).state === "error", 20_000);
    const sessions = await home.list();
    expect(sessions.filter(({ name }) => name !== "dies").map(({ state }) => state)).toEqual(
      names.map(() => "running"),
    );
    const types = await typesOf();
    expect(types.filter((type) => type === "session-exited")).toHaveLength(1);
    expect(types.filter((type) => type === "session-running")).toHaveLength(names.length + 1);
    expect(types).not.toContain("runtime-lost");
    expect(existsSync(join(home.dir, "far-away"))).toBe(true);
  });
});
