/** The CLI against the real daemon and the real tmux, in a home of its own. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PROGRAM = join(import.meta.dirname, "run-cli.ts");
let home: string;

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function reeve(
  words: readonly string[],
  options: { readonly input?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const environment = { ...process.env, REEVE_HOME: home, NODE_NO_WARNINGS: "1", ...options.environment };
    const child = execFile(
      process.execPath,
      [PROGRAM, ...words],
      { env: environment, maxBuffer: 10_000_000 },
      (_error, stdout, stderr) => resolve({ status: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end(options.input ?? "");
  });
}

async function json([command = "", ...words]: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout } = await reeve([command, "--json", ...words]);
  expect(stdout.trim().split("\n")).toHaveLength(1);
  return JSON.parse(stdout) as Record<string, unknown>;
}

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "rc-"));
});

afterAll(async () => {
  await reeve(["end", "--all", "--when", "now", "--grace", "1"]);
  await reeve(["daemon", "stop"]);
  await new Promise((resolve) => execFile("tmux", ["-S", join(home, "run", "tmux.sock"), "kill-server"], resolve));
  rmSync(home, { recursive: true, force: true });
});

describe("reeve", { timeout: 60_000 }, () => {
  it("does not start the daemon to look at it", async () => {
    expect(await reeve(["daemon", "status"])).toEqual({
      status: 1,
      stdout: "The daemon is not running.\n",
      stderr: "",
    });
    expect(await json(["daemon", "status"])).toEqual({ running: false });
    expect(await reeve(["complete", "--", "data", ""])).toMatchObject({ status: 0, stdout: "none\n" });
    expect(await reeve(["daemon", "stop"])).toMatchObject({ status: 0 });
  });

  it("lists an empty home for many who ask first", async () => {
    const ran = await Promise.all(Array.from({ length: 8 }, () => reeve(["list", "--json"])));
    for (const { status, stdout } of ran)
      expect({ status, listed: JSON.parse(stdout) as unknown }).toEqual({
        status: 0,
        listed: { sessions: [], inbox_open: 0, cursor: expect.any(Number) },
      });
  });

  it("plays the demo, once", async () => {
    const first = await json(["demo"]);
    const again = await json(["demo"]);
    const sessions = (played: Record<string, unknown>) =>
      (
        played["sessions"] as {
          name: string;
          session_id: string;
          state: string;
          activity: string;
          asks: string | null;
        }[]
      ).toSorted((a, b) => a.name.localeCompare(b.name));
    expect(sessions(first)).toMatchObject([
      { name: "demo-asks", state: "running", activity: "awaiting-approval", asks: 'Run "rm -r build"?' },
      { name: "demo-crashes", state: "error" },
      { name: "demo-reads", state: "running", activity: "idle" },
    ]);
    expect(sessions(again).map((session) => session.session_id)).toEqual(
      sessions(first).map((session) => session.session_id),
    );
    expect(first["next"]).toEqual(
      ["approvals", "approve demo-asks", "attach demo-asks", "data demo-crashes", "end --all"].map(
        (words) => `bin/reeve ${words}`,
      ),
    );
  });

  it("answers a question from stdin and waits for the turn to end", async () => {
    const { cursor } = await json(["daemon", "status"]);
    expect(await reeve(["send", "demo-asks", "-"], { input: "y\n" })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Delivered\./),
    });
    const waited = await json([
      "wait",
      "demo-asks",
      "--for",
      "turn-completed",
      "--since",
      String(cursor),
      "--timeout",
      "20",
    ]);
    expect(waited).toMatchObject({ done: true, reason: "turn-completed" });
    expect((await reeve(["data", "demo-asks"])).stdout).toContain('I ran "rm -r build".');
  });

  it("shows what is asked, answers it and says that it took effect", async () => {
    const ask = async (what: string): Promise<void> => {
      const { cursor } = await json(["daemon", "status"]);
      await reeve(["send", "demo-asks", `ask ${what}`]);
      await json(["wait", "demo-asks", "--for", "awaiting-approval", "--since", String(cursor), "--timeout", "20"]);
    };
    await ask("rm -r dist");
    expect(await json(["approvals"])).toMatchObject({
      approvals: [{ session_name: "demo-asks", title: 'Run "rm -r dist"?', answer: null }],
    });
    expect((await reeve(["approvals", "demo-asks"])).stdout).toMatch(/^SESSION .*\ndemo-asks .*Run "rm -r dist"\?\n$/);
    expect(await reeve(["approve", "demo-asks"])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Approved: Run "rm -r dist"\? It took effect \(.*\)\.\n$/),
    });
    expect(await reeve(["approvals"])).toEqual({ status: 0, stdout: "", stderr: "No session asks anything.\n" });
    await expect
      .poll(async () => (await reeve(["data", "demo-asks"])).stdout, { timeout: 10_000 })
      .toContain('I ran "rm -r dist".');
    await ask("rm -r home");
    expect(await json(["deny", "demo-asks"])).toMatchObject({ state: "settled", decision: "denied", by: "operator" });
    expect(await json(["deny", "demo-asks"])).toMatchObject({ error: { code: "approval-stale" } });
  });

  it("explains what it says, and what there is to work with", async () => {
    const { stdout } = await reeve(["explain", "demo-asks"]);
    expect(stdout).toMatch(/^demo-asks \(.*\)\n  practice, watched by hooks\./);
    expect(stdout).toMatch(/\nProcess: running\n[^]*\nSOURCE +SAID +DETAIL +AGE +WEIGHT\nhook /);
    expect(await json(["explain", "demo-asks"])).toMatchObject({ liveness: { claim: "running" }, channel: null });
    const found = await json(["doctor"]);
    expect(found["checks"]).toContainEqual(expect.objectContaining({ what: "tmux", status: "ok" }));
    expect(await reeve(["doctor"])).toMatchObject({ status: found["healthy"] === true ? 0 : 1 });
  });

  it("refuses what an agent cannot do with a message", async () => {
    expect(await reeve(["send", "demo-reads", "x", "--steer", "--interrupt"])).toMatchObject({ status: 2 });
    expect(await json(["send", "demo-reads", "x", "--steer"])).toMatchObject({ error: { code: "steer-unsupported" } });
  });

  it("goes on waiting and following when the daemon is killed", async () => {
    const { cursor } = await json(["daemon", "status"]);
    await reeve(["send", "demo-reads", "sleep 2"]);
    const waiting = json([
      "wait",
      "demo-reads",
      "--for",
      "turn-completed",
      "--since",
      String(cursor),
      "--timeout",
      "30",
    ]);
    const following = spawn(
      process.execPath,
      [PROGRAM, "events", "demo-reads", "--follow", "--json", "--since", String(cursor)],
      { env: { ...process.env, REEVE_HOME: home } },
    );
    const followed: string[] = [];
    following.stdout.on("data", (bytes: Buffer) => followed.push(...bytes.toString().trim().split("\n")));
    const before = await json(["daemon", "status"]);
    process.kill(Number(before["pid"]), "SIGKILL");
    expect(await waiting).toMatchObject({ done: true, reason: "turn-completed" });
    await expect
      .poll(() => followed.map((line) => (JSON.parse(line) as { type: string }).type), { timeout: 10_000 })
      .toContain("turn-completed");
    following.kill("SIGINT");
    expect(await new Promise((resolve) => following.on("exit", resolve))).toBe(130);
    expect((await json(["daemon", "status"]))["pid"]).not.toBe(before["pid"]);
  });

  it("gives up waiting with 75", async () => {
    const words = ["wait", "demo-reads", "--for", "exited", "--timeout", "0.2"];
    expect(await reeve(words)).toMatchObject({ status: 75, stdout: "" });
    expect(await json(words)).toMatchObject({ done: false, reason: "timeout" });
  });

  it("runs a command, pauses, resumes, restarts and ends it with evidence", async () => {
    const started = await json([
      "start",
      "command",
      "--name",
      "job",
      "--role",
      "ops",
      "--env",
      "A=b=c",
      "--",
      "sh",
      "-c",
      'echo "$A"; exec sleep 600',
    ]);
    expect(started).toMatchObject({ name: "job", role: "ops", agent: "command", cwd: process.cwd() });
    await expect
      .poll(() => json(["data", "job"]), { timeout: 10_000 })
      .toMatchObject({ source: "screen", text: expect.stringContaining("b=c") });
    expect(await json(["pause", "job", "--suspend"])).toMatchObject({
      done: true,
      session: { state: "paused", pause_mode: "suspend" },
    });
    expect(await json(["resume", "job"])).toMatchObject({ done: true, session: { state: "running" } });
    expect(await json(["restart", "job"])).toMatchObject({ done: true, session: { state: "running" } });
    expect(await reeve(["end", "job", "nix"])).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^job is stopped\. .*process/),
      stderr: expect.stringContaining('There is no session "nix"'),
    });
    expect(await json(["end", "job"])).toMatchObject({ done: true, session: { state: "stopped" } });
  });

  it("tells errors as one object with --json, as one sentence without", async () => {
    expect(await json(["data", "nix"])).toEqual({
      error: { code: "unknown-session", message: expect.stringContaining('"nix"'), details: { nearest: [] } },
    });
    expect(await json(["list", "--foo"])).toMatchObject({ error: { code: "unknown-option" } });
    expect(await reeve(["start", "command"])).toMatchObject({ status: 2, stdout: "" });
    expect(await reeve(["attach", "demo-reads"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("needs a terminal"),
    });
    expect(await json(["attach", "demo-reads"])).toMatchObject({
      argv: expect.arrayContaining(["tmux"].map(() => expect.any(String))),
    });
  });

  it("survives a reader that leaves", async () => {
    const script = `'${process.execPath}' '${PROGRAM}' list --all | head -1; echo "\${PIPESTATUS[0]}"`;
    const stdout = await new Promise<string>((resolve) =>
      execFile("bash", ["-c", script], { env: { ...process.env, REEVE_HOME: home } }, (_error, text) => resolve(text)),
    );
    expect(stdout).toMatch(/^NAME .*\n0\n$/);
  });
});
