/** The tmux runtime against real tmux servers on private sockets: the shared suite, then what only tmux can suffer. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { listProcesses, readCommandLine } from "../../src/platform/process-table.ts";
import type { CreateRequest, Runtime, Target } from "../../src/runtime/contract.ts";
import { createTmuxRuntime } from "../../src/runtime/tmux/tmux-runtime.ts";
import { eventually } from "./eventually.ts";
import { describeRuntime, markedProcesses, type RuntimeFixture } from "./runtime.ts";

interface TmuxFixture extends RuntimeFixture {
  readonly runDir: string;
  tmux(...args: readonly string[]): string;
  serverPid(): number;
}

let count = 0;

async function makeFixture(): Promise<TmuxFixture> {
  const base = mkdtempSync(join(tmpdir(), "reeve-"));
  const runDir = join(base, "run");
  const workDir = join(base, "work");
  for (const directory of [runDir, workDir]) mkdirSync(directory, { mode: 0o700 });
  const instance = `t${process.pid}-${(count += 1)}`;
  const opened: Runtime[] = [];
  const open = (): Runtime => {
    const runtime = createTmuxRuntime({ instance, runDir, clock: systemClock, log: () => {} });
    opened.push(runtime);
    return runtime;
  };
  const socket = join(runDir, "tmux.sock");
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", socket, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const serverPid = (): number => JSON.parse(readFileSync(join(runDir, "tmux-server.json"), "utf8")).pid;
  const dispose = async (): Promise<void> => {
    const [runtime] = opened;
    for (const stray of (await runtime?.findStrays(() => false)) ?? []) kill(stray.pid);
    for (const each of opened) await each.close();
    for (const row of listProcesses()) {
      if (readCommandLine(row.pid).includes(socket)) kill(row.pid);
    }
    await eventually("everything of the fixture ended", () => markedProcesses(instance).length === 0);
    rmSync(base, { recursive: true, force: true });
  };
  return { runtime: open(), instance, workDir, runDir, reopen: open, dispose, tmux, serverPid };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended by itself meanwhile
  }
}

describeRuntime("tmux", makeFixture);

describe("tmux runtime", { timeout: 30_000 }, () => {
  let fixture: TmuxFixture;
  let runtime: Runtime;
  beforeEach(async () => {
    fixture = await makeFixture();
    runtime = fixture.runtime;
  });
  afterEach(() => fixture.dispose());

  const one: Target = { sessionId: "one", incarnation: 1 };
  const shell = (target: Target, script: string): CreateRequest => ({
    ...target,
    argv: ["sh", "-c", script],
    cwd: fixture.workDir,
    label: "label",
    environment: { PATH: process.env["PATH"] ?? "/bin" },
    extraEnvironment: {},
  });
  const status = async (target: Target = one): Promise<string> => (await runtime.observe(target)).status;

  it("never takes a look-alike for its own", async () => {
    await runtime.create(shell({ sessionId: "other", incarnation: 1 }, "sleep 100"));
    fixture.tmux("new-session", "-d", "-s", "one", "sleep", "321");
    expect(await status()).toBe("absent");
    expect(await runtime.list()).toMatchObject({ entries: [{ sessionId: "other" }] });
    expect(await runtime.findStrays((target) => target.sessionId === "other")).toEqual([]);
    expect(await runtime.stop(one, { graceMs: 100 })).toMatchObject({ terminated: 0, killed: 0, survivors: [] });
    await runtime.destroy(one);
    expect(fixture.tmux("list-panes", "-t", "=one:", "-F", "#{pane_dead}")).toBe("0\n");
    await runtime.create(shell(one, "sleep 100"));
    expect(await status()).toBe("running");
    await runtime.stop(one, { graceMs: 1_000 });
    await runtime.destroy(one);
    expect(fixture.tmux("list-panes", "-t", "=one:", "-F", "#{pane_dead}")).toBe("0\n");
  });

  it("keeps a session that a person renamed, and sees one they killed", async () => {
    const { place } = await runtime.create(shell(one, "sleep 100"));
    fixture.tmux("rename-session", "-t", "=one", "mine now");
    fixture.tmux("rename-window", "-t", "=mine now:", "#{pane_id}; kill-server");
    expect(await runtime.observe(one)).toMatchObject({ status: "running", place });
    expect(await fixture.reopen().observe(one)).toMatchObject({ status: "running", place });
    expect((await runtime.attachCommand(one)).at(-1)).toMatch(/^\$\d+$/);
    let hints = 0;
    runtime.stream(one, () => {});
    await eventually("it is linked", () => fixture.tmux("list-panes", "-a").split("\n").length > 3);
    runtime.onChange(() => (hints += 1));
    fixture.tmux("kill-session", "-t", "=mine now");
    await eventually("the kill was hinted at", () => hints > 0);
    await eventually("it is gone", async () => (await runtime.list()) && (await status()) === "absent");
  });

  it("knows a pane by its process when its option is gone", async () => {
    await runtime.create(shell(one, "sleep 100"));
    fixture.tmux("set-option", "-p", "-t", "=one:", "-u", "@reeve");
    expect(await fixture.reopen().observe(one)).toMatchObject({ status: "running" });
    expect((await fixture.reopen().create(shell(one, "sleep 100"))).isNew).toBe(false);
  });

  it("is not fooled by a screen that imitates tmux's protocol", async () => {
    const script =
      "i=0; while [ $i -lt 3000 ]; do printf '%%end 1 %s 1\\n%%begin 1 %s 1\\n%%error 1 %s 1\\n%%exit\\n%%output %%0 x\\n' $i $i $i; i=$((i+1)); done; touch up; sleep 100";
    await runtime.create(shell(one, script));
    runtime.stream(one, () => {});
    await eventually("it printed", () => existsSync(join(fixture.workDir, "up")));
    // The true header of the next reply, as an agent could guess it, for a second to come.
    const now = Math.floor(Date.now() / 1000);
    const forged = Array.from({ length: 400 }, (_, index) => `%end ${now + (index % 2)} ${300 + (index >> 1)} 1`).join(
      "\n",
    );
    writeFileSync(join(fixture.workDir, "forged"), forged);
    const two: Target = { sessionId: "two", incarnation: 1 };
    await runtime.create(shell(two, "cat forged; touch up2; sleep 100"));
    await eventually("it printed", () => existsSync(join(fixture.workDir, "up2")));
    for (let round = 0; round < 20; round += 1) {
      const [screen, listing] = await Promise.all([
        runtime.capture(one, { lines: 4_000 }),
        runtime.list(),
        runtime.capture(two, { lines: 500 }),
      ]);
      expect(screen.text.split("\n").length).toBeGreaterThan(3_900);
      expect(screen.text.endsWith("%output %0 x")).toBe(true);
      expect(listing).toMatchObject({
        reachable: true,
        entries: [{ observation: { status: "running" } }, { observation: { status: "running" } }],
      });
    }
  });

  it("captures an alternate screen that is smaller than what is asked for", async () => {
    await runtime.create(shell(one, "seq 500; printf '\\033[?1049h\\033[Halternate'; touch up; sleep 100"));
    await eventually("it printed", () => existsSync(join(fixture.workDir, "up")));
    await eventually("the screen shows it", async () =>
      (await runtime.capture(one, { lines: 5_000 })).text.endsWith("alternate"),
    );
  });

  it("calls everything absent, with the reason, once the server was killed", async () => {
    const other = await makeFixture();
    try {
      await runtime.create(shell(one, "sleep 100"));
      await other.runtime.create({ ...shell(one, "sleep 100"), cwd: other.workDir });
      let hints = 0;
      runtime.onChange(() => (hints += 1));
      const pid = fixture.serverPid();
      process.kill(pid, "SIGKILL");
      await eventually("the loss was hinted at", () => hints > 0);
      await eventually("it is absent", async () => (await status()) === "absent");
      expect((await runtime.observe(one)).evidence).toContain(`process ${pid}`);
      expect(await fixture.reopen().list()).toMatchObject({
        reachable: true,
        entries: [],
        evidence: expect.stringContaining(`${pid}`),
      });
      expect(await other.runtime.observe(one)).toMatchObject({ status: "running" });
      await expect(
        runtime.create({ ...shell({ ...one, incarnation: 2 }, "true"), environment: null }),
      ).rejects.toMatchObject({ code: "environment-lost" });
      expect(await runtime.stop(one, { graceMs: 500 })).toMatchObject({ survivors: [] });
      await runtime.create(shell({ ...one, incarnation: 2 }, "sleep 100"));
      expect(fixture.serverPid()).not.toBe(pid);
    } finally {
      await other.dispose();
    }
  });

  it("calls it unreachable while the socket file is missing, and mends that", async () => {
    const { place } = await runtime.create(shell(one, "sleep 100"));
    unlinkSync(join(fixture.runDir, "tmux.sock"));
    const fresh = fixture.reopen();
    expect(await fresh.list()).toMatchObject({ reachable: false });
    await eventually("it is found again", async () => (await fresh.observe(one)).status === "running");
    expect(await fresh.observe(one)).toMatchObject({ place });
    unlinkSync(join(fixture.runDir, "tmux.sock"));
    expect(await runtime.list()).toMatchObject({ entries: [{ observation: { status: "running" } }] });
    await eventually("the socket is back", () => existsSync(join(fixture.runDir, "tmux.sock")));
  });

  it("calls a stopped server unreachable, starts no second one, and goes on when it runs again", async () => {
    await runtime.create(shell(one, "sleep 100"));
    const pid = fixture.serverPid();
    process.kill(pid, "SIGSTOP");
    const startedAt = performance.now();
    expect(await status()).toBe("unreachable");
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    process.kill(pid, "SIGCONT");
    await eventually("it answers again", async () => (await status()) === "running");
    expect(fixture.serverPid()).toBe(pid);
  });

  it("connects anew when its client is killed or the anchor removed", async () => {
    const heard: Buffer[] = [];
    runtime.stream(one, (bytes) => heard.push(bytes));
    await runtime.create(shell(one, 'stty -echo; while read x; do echo "got $x"; done'));
    const client = Number(fixture.tmux("list-clients", "-F", "#{client_pid}"));
    process.kill(client, "SIGKILL");
    await eventually(
      "another client came",
      () => ![`${client}\n`, ""].includes(fixture.tmux("list-clients", "-F", "#{client_pid}\n").replace("\n\n", "\n")),
    );
    await runtime.send(one, [{ type: "paste", text: "a\n" }]);
    await eventually("output flows", () => Buffer.concat(heard).includes("got a"));
    fixture.tmux("kill-session", "-t", "=reeve-anchor");
    await eventually("it is reachable", async () => (await status()) === "running");
    await eventually("it is linked again", () => fixture.tmux("list-panes", "-a").split("\n").length > 3);
    await runtime.send(one, [{ type: "paste", text: "b\n" }]);
    await eventually("output flows again", () => Buffer.concat(heard).includes("got b"));
  });

  it("leaves copy mode before it types", async () => {
    await runtime.create(shell(one, 'read x; echo "$x" > got; sleep 100'));
    fixture.tmux("copy-mode", "-t", "=one:");
    await runtime.send(one, [
      { type: "paste", text: "hello" },
      { type: "key", key: "Enter" },
    ]);
    await eventually("it arrived", () => existsSync(join(fixture.workDir, "got")));
  });

  it("leaves nothing of a message on the disk, and nothing readable by others", async () => {
    await runtime.create(shell(one, "stty raw -echo; cat > got; sleep 100"));
    await runtime.send(one, [{ type: "paste", text: "secret\n".repeat(10_000) }]);
    expect(readdirSync(fixture.runDir).toSorted()).toEqual(["pane.sh", "tmux-server.json", "tmux.conf", "tmux.sock"]);
    writeFileSync(join(fixture.runDir, "reeve-left.paste"), "secret");
    await fixture.reopen().list();
    expect(readdirSync(fixture.runDir)).not.toContain("reeve-left.paste");
    expect(fixture.tmux("list-buffers")).toBe("");
  });

  it("says what is wrong with the installation", async () => {
    const make = (runDir: string, tmuxBinary: string): Runtime =>
      createTmuxRuntime({ instance: fixture.instance, runDir, clock: systemClock, log: () => {}, tmuxBinary });
    const old = join(fixture.workDir, "old-tmux");
    writeFileSync(old, "#!/bin/sh\necho tmux 2.9a\n");
    chmodSync(old, 0o700);
    await expect(make(fixture.runDir, "/nonexistent/tmux").create(shell(one, "true"))).rejects.toMatchObject({
      code: "tmux-missing",
      kind: "config",
    });
    await expect(make(fixture.runDir, old).create(shell(one, "true"))).rejects.toMatchObject({
      code: "tmux-too-old",
      kind: "config",
    });
    const long = join(fixture.workDir, "x".repeat(90));
    mkdirSync(long);
    await expect(make(long, "tmux").create(shell(one, "true"))).rejects.toMatchObject({
      code: "home-path-too-long",
      kind: "config",
    });
  });
});
