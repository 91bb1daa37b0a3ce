/** The tmux runtime against real tmux servers on private sockets: the shared suite, then what only tmux can suffer. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import type { Runtime, Target } from "../../src/runtime/contract.ts";
import { createTmuxRuntime } from "../../src/runtime/tmux/tmux-runtime.ts";
import { eventually } from "../support/eventually.ts";
import { describeRuntime } from "./runtime.ts";
import { first, useGround } from "./runtime-ground.ts";
import { makeTmuxFixture } from "./tmux-fixture.ts";

describeRuntime("tmux", () => makeTmuxFixture());
describeRuntime("tmux without cgroups", () => makeTmuxFixture({ cgroups: false }));

describe("tmux runtime", () => {
  const ground = useGround(() => makeTmuxFixture());
  const { shell } = ground;
  const status = async (): Promise<string> => (await ground.runtime.observe(first)).status;

  it("never takes a look-alike for its own", async () => {
    await ground.runtime.create(shell({ sessionId: "other", incarnation: 1 }, "sleep 100"));
    ground.fixture.tmux("new-session", "-d", "-s", "one", "sleep", "321");
    expect(await status()).toBe("absent");
    expect(await ground.runtime.list()).toMatchObject({ entries: [{ sessionId: "other" }] });
    expect(await ground.runtime.findStrays((target) => target.sessionId === "other")).toEqual([]);
    expect(await ground.runtime.stop(first, { graceMs: 100 })).toMatchObject({
      terminated: 0,
      killed: 0,
      survivors: [],
    });
    await ground.runtime.destroy(first);
    expect(ground.fixture.tmux("list-panes", "-t", "=one:", "-F", "#{pane_dead}")).toBe("0\n");
    await ground.runtime.create(shell(first, "sleep 100"));
    expect(await status()).toBe("running");
    await ground.runtime.stop(first, { graceMs: 1_000 });
    await ground.runtime.destroy(first);
    expect(ground.fixture.tmux("list-panes", "-t", "=one:", "-F", "#{pane_dead}")).toBe("0\n");
  });

  it("keeps a session that a person renamed, and sees one they killed", async () => {
    const { place } = await ground.runtime.create(shell(first, "sleep 100"));
    ground.fixture.tmux("rename-session", "-t", "=one", "mine now");
    ground.fixture.tmux("rename-window", "-t", "=mine now:", "#{pane_id}; kill-server");
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "running", place });
    expect(await ground.fixture.reopen().observe(first)).toMatchObject({ status: "running", place });
    expect((await ground.runtime.attachCommand(first, {})).argv.join(" ")).toMatch(/ -t \$\d+ ;/);
    let hints = 0;
    ground.runtime.stream(first, () => {});
    await eventually("it is linked", () => ground.fixture.tmux("list-panes", "-a").split("\n").length > 3);
    ground.runtime.onChange(() => (hints += 1));
    ground.fixture.tmux("kill-session", "-t", "=mine now");
    await eventually("the kill was hinted at", () => hints > 0);
    await eventually("it is gone", async () => (await ground.runtime.list()) && (await status()) === "absent");
  });

  it("keeps what programs print right before they end while tmux is kept from reading for a second", async () => {
    const targets = Array.from({ length: 20 }, (_, index): Target => ({ sessionId: `slow-${index}`, incarnation: 1 }));
    const script = "until [ -e go ]; do sleep 0.05; done; echo cannot start; touch $0; exit 1";
    for (const target of targets)
      await ground.runtime.create(ground.request(target, ["sh", "-c", script, `ended-${target.sessionId}`]));
    const server = ground.fixture.serverPid();
    process.kill(server, "SIGSTOP");
    try {
      await ground.put("go", "");
      const haveEnded = () => targets.every(({ sessionId }) => existsSync(ground.path(`ended-${sessionId}`)));
      await eventually("all have printed", haveEnded);
      await systemClock.sleep(1_000);
      // Their terminals are kept open until tmux has read them.
      expect(ground.fixture.census().living).toBeGreaterThanOrEqual(targets.length);
    } finally {
      process.kill(server, "SIGCONT");
    }
    for (const target of targets) {
      expect(await ground.exit(target)).toEqual({ code: 1, signal: null });
      expect(await ground.runtime.capture(target, { lines: 10 })).toMatchObject({ text: "cannot start" });
    }
  });

  it("has tmux keep nothing for a listener that has gone; the next one hears what comes from then on", async () => {
    const flood = "head -c 40000000 /dev/zero | tr '\\0' '\\r'; touch printed";
    const until = (file: string): string => `until [ -e ${file} ]; do sleep 0.02; done`;
    const script = `echo one; ${until("two")}; ${flood}; ${until("three")}; echo three; exec sleep 100`;
    const listen = (): { heard: () => string; stop: () => void } => {
      let heard = "";
      const stop = ground.runtime.stream(first, (bytes) => (heard += bytes.toString("latin1")));
      return { heard: () => heard, stop };
    };
    const linked = (): number => ground.fixture.tmux("list-windows", "-t", "=reeve-anchor").trim().split("\n").length;
    const memory = (): number =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${ground.fixture.serverPid()}/status`, "utf8"))?.[1]);
    const earlier = listen();
    await ground.runtime.create(shell(first, script));
    await eventually("it is heard", () => earlier.heard().includes("one"));
    earlier.stop();
    await eventually("tmux tells us nothing more of it", () => linked() === 1);
    const before = memory();
    await ground.put("two", "");
    await ground.written("printed");
    expect(memory() - before).toBeLessThan(10_000);
    const later = listen();
    await eventually("it is told again", () => linked() === 2);
    await ground.put("three", "");
    await eventually("it is heard again", () => later.heard().includes("three"));
    expect(later.heard().replaceAll("\r", "")).toBe("three\n");
    expect(later.heard().length).toBeLessThan(1_000_000);
    later.stop();
  });

  it("knows a pane by its process when its option is gone", async () => {
    await ground.runtime.create(shell(first, "sleep 100"));
    ground.fixture.tmux("set-option", "-p", "-t", "=one:", "-u", "@reeve");
    expect(await ground.fixture.reopen().observe(first)).toMatchObject({ status: "running" });
    expect((await ground.fixture.reopen().create(shell(first, "sleep 100"))).isNew).toBe(false);
  });

  it("is not fooled by a screen that imitates tmux's protocol", async () => {
    const script =
      "i=0; while [ $i -lt 3000 ]; do printf '%%end 1 %s 1\\n%%begin 1 %s 1\\n%%error 1 %s 1\\n%%exit\\n%%output %%0 x\\n' $i $i $i; i=$((i+1)); done; touch up; sleep 100";
    await ground.runtime.create(shell(first, script));
    ground.runtime.stream(first, () => {});
    await eventually("it printed", () => existsSync(join(ground.fixture.workDir, "up")));
    // The true headers of the replies to come, which any process of this user can learn and print.
    // A one-shot client's own output is now and then cut short, so it is asked until it tells.
    const ask = (): string => ground.fixture.tmux("-C", "display-message", "-p", "x");
    const [, time, number] = await eventually("a header is told", () => /%begin (\d+) (\d+) /.exec(ask()));
    const headers = Array.from({ length: 4_500 }, (_, index) => {
      return `%end ${Number(time) - 1 + (index % 10)} ${Number(number) + Math.floor(index / 10)} 1`;
    });
    writeFileSync(ground.path("forged"), headers.join("\n"));
    const two: Target = { sessionId: "two", incarnation: 1 };
    await ground.runtime.create(shell(two, "cat forged; touch up2; sleep 100"));
    await eventually("it printed", () => existsSync(ground.path("up2")));
    const shown = (): string => ground.fixture.tmux("capture-pane", "-p", "-t", "=two:").trimEnd();
    await eventually("tmux shows it", () => shown().endsWith(headers.at(-1) ?? ""));
    for (let round = 0; round < 10; round += 1) {
      const [screen, listing, forged] = await Promise.all([
        ground.runtime.capture(first, { lines: 4_000 }),
        ground.runtime.list(),
        ground.runtime.capture(two, { lines: 5_000 }),
      ]);
      expect(screen.text.split("\n")).toHaveLength(4_000);
      expect(screen.text.endsWith("%output %0 x")).toBe(true);
      expect(forged.text).toBe(headers.join("\n"));
      expect(listing).toMatchObject({
        reachable: true,
        entries: [{ presence: { status: "running" } }, { presence: { status: "running" } }],
      });
    }
  });

  it("captures an alternate screen that is smaller than what is asked for", async () => {
    await ground.runtime.create(shell(first, "seq 500; printf '\\033[?1049h\\033[Halternate'; touch up; sleep 100"));
    await eventually("it printed", () => existsSync(join(ground.fixture.workDir, "up")));
    await eventually("the screen shows it", async () =>
      (await ground.runtime.capture(first, { lines: 5_000 })).text.endsWith("alternate"),
    );
  });

  it("calls everything absent, with the reason, once the server was killed", async () => {
    const other = await makeTmuxFixture();
    try {
      await ground.runtime.create(shell(first, "sleep 100"));
      await other.runtime.create({ ...shell(first, "sleep 100"), cwd: other.workDir });
      let hints = 0;
      ground.runtime.onChange(() => (hints += 1));
      const pid = ground.fixture.serverPid();
      process.kill(pid, "SIGKILL");
      await eventually("the loss was hinted at", () => hints > 0);
      await eventually("it is absent", async () => (await status()) === "absent");
      expect((await ground.runtime.observe(first)).evidence).toContain(`process ${pid}`);
      const listing = await ground.fixture.reopen().list();
      expect(listing).toMatchObject({ reachable: true, evidence: expect.stringContaining(`${pid}`) });
      // Its cgroup is still there, and holds what did not hear that its terminal is gone.
      expect(listing.reachable && listing.entries.every(({ presence }) => presence.status === "absent")).toBe(true);
      expect(await other.runtime.observe(first)).toMatchObject({ status: "running" });
      await expect(
        ground.runtime.create({ ...shell({ ...first, incarnation: 2 }, "true"), environment: null }),
      ).rejects.toMatchObject({ code: "environment-lost" });
      expect(await ground.runtime.stop(first, { graceMs: 500 })).toMatchObject({ survivors: [] });
      await ground.runtime.create(shell({ ...first, incarnation: 2 }, "sleep 100"));
      expect(ground.fixture.serverPid()).not.toBe(pid);
    } finally {
      await other.dispose();
    }
  });

  it("calls it unreachable while the socket file is missing, and mends that", async () => {
    const { place } = await ground.runtime.create(shell(first, "sleep 100"));
    unlinkSync(join(ground.fixture.runDir, "tmux.sock"));
    const fresh = ground.fixture.reopen();
    expect(await fresh.list()).toMatchObject({ reachable: false });
    await eventually("it is found again", async () => (await fresh.observe(first)).status === "running");
    expect(await fresh.observe(first)).toMatchObject({ place });
    unlinkSync(join(ground.fixture.runDir, "tmux.sock"));
    // A connection outlives its socket file; there is one daemon, so the newer runtime has the only one.
    expect(await fresh.list()).toMatchObject({ entries: [{ presence: { status: "running" } }] });
    await eventually("the socket is back", () => existsSync(join(ground.fixture.runDir, "tmux.sock")));
  });

  it("calls a stopped server unreachable, starts no second first, and goes on when it runs again", async () => {
    await ground.runtime.create(shell(first, "sleep 100"));
    const pid = ground.fixture.serverPid();
    process.kill(pid, "SIGSTOP");
    expect(await status()).toBe("unreachable");
    process.kill(pid, "SIGCONT");
    await eventually("it answers again", async () => (await status()) === "running");
    expect(ground.fixture.serverPid()).toBe(pid);
  });

  it("connects anew when its client is killed or the anchor removed", async () => {
    const heard: Buffer[] = [];
    ground.runtime.stream(first, (bytes) => heard.push(bytes));
    await ground.runtime.create(shell(first, 'stty -echo; while read x; do echo "got $x"; done'));
    const client = Number(ground.fixture.tmux("list-clients", "-F", "#{client_pid}"));
    process.kill(client, "SIGKILL");
    await eventually(
      "another client came",
      () =>
        ![`${client}\n`, ""].includes(
          ground.fixture.tmux("list-clients", "-F", "#{client_pid}\n").replace("\n\n", "\n"),
        ),
    );
    await ground.runtime.send(first, [{ type: "paste", text: "a\n" }]);
    await eventually("output flows", () => Buffer.concat(heard).includes("got a"));
    ground.fixture.tmux("kill-session", "-t", "=reeve-anchor");
    await eventually("it is reachable", async () => (await status()) === "running");
    await eventually("it is linked again", () => ground.fixture.tmux("list-panes", "-a").split("\n").length > 3);
    await ground.runtime.send(first, [{ type: "paste", text: "b\n" }]);
    await eventually("output flows again", () => Buffer.concat(heard).includes("got b"));
  });

  it("leaves copy mode before it types", async () => {
    await ground.runtime.create(shell(first, 'read x; echo "$x" > got; sleep 100'));
    ground.fixture.tmux("copy-mode", "-t", "=one:");
    await ground.runtime.send(first, [
      { type: "paste", text: "hello" },
      { type: "key", key: "Enter" },
    ]);
    await eventually("it arrived", () => existsSync(join(ground.fixture.workDir, "got")));
  });

  it("leaves nothing of a message on the disk, and nothing readable by others", async () => {
    await ground.runtime.create(shell(first, "stty raw -echo; cat > got; sleep 100"));
    await ground.runtime.send(first, [{ type: "paste", text: "secret\n".repeat(10_000) }]);
    const names = readdirSync(ground.fixture.runDir).filter((name) => name !== "cgroups.json");
    expect(names.toSorted()).toEqual(["pane.sh", "tmux-server.json", "tmux.conf", "tmux.sock"]);
    writeFileSync(join(ground.fixture.runDir, "reeve-left.paste"), "secret");
    await ground.fixture.reopen().list();
    expect(readdirSync(ground.fixture.runDir)).not.toContain("reeve-left.paste");
    expect(ground.fixture.tmux("list-buffers")).toBe("");
  });

  it("says what is wrong with the installation", async () => {
    const make = (runDir: string, tmuxBinary: string): Runtime =>
      createTmuxRuntime({ instance: ground.fixture.instance, runDir, clock: systemClock, log: () => {}, tmuxBinary });
    const old = join(ground.fixture.workDir, "old-tmux");
    writeFileSync(old, "#!/bin/sh\necho tmux 2.9a\n");
    chmodSync(old, 0o700);
    await expect(make(ground.fixture.runDir, "/nonexistent/tmux").create(shell(first, "true"))).rejects.toMatchObject({
      code: "tmux-missing",
      kind: "config",
    });
    await expect(make(ground.fixture.runDir, old).create(shell(first, "true"))).rejects.toMatchObject({
      code: "tmux-too-old",
      kind: "config",
    });
    const long = join(ground.fixture.workDir, "x".repeat(90));
    mkdirSync(long);
    await expect(make(long, "tmux").create(shell(first, "true"))).rejects.toMatchObject({
      code: "home-path-too-long",
      kind: "config",
    });
  });
});
