/** `reeve uninstall` on a real home: says what it will do, proves the ends, and removes what is Reeve's and nothing else. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isDead, listProcesses } from "../../src/platform/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { TestHome } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

interface Plan {
  readonly done: boolean;
  readonly sessions: readonly { readonly name: string }[];
  readonly daemon: number | null;
  readonly service: string | null;
  readonly data: readonly string[];
  readonly kept: readonly string[];
}

const planIn = (stdout: string): Plan => JSON.parse(stdout) as Plan;

function serverPid(home: TestHome): number {
  return (JSON.parse(readFileSync(join(home.dir, "run", "tmux-server.json"), "utf8")) as { pid: number }).pid;
}

const lives = (pid: number): boolean => listProcesses().some((row) => row.pid === pid && !isDead(row));

async function startTwo(home: TestHome): Promise<void> {
  await home.json("start", "command", "--name", "plain", "--", "sleep", "600");
  // A polite signal is not enough for it.
  await home.json("start", "command", "--name", "stubborn", "--", "sh", "-c", "trap '' TERM; sleep 600 & wait; wait");
  await eventually("both run", async () => (await home.list()).every(({ state }) => state === "running"));
}

describe("without --yes and without a terminal", () => {
  test.concurrent("it shows what it would do, and does nothing", async () => {
    await inHome("[sessions]\nend_grace_seconds = 1\n", async (home) => {
      await startTwo(home);
      const daemon = await home.daemonPid();
      const shown = await home.run(["uninstall", "--data"]);
      expect(shown).toMatchObject({ status: 1, stderr: "Nothing was removed. To remove it: reeve uninstall --yes\n" });
      expect(shown.stdout).toContain("end 2 sessions: plain, stubborn\n");
      expect(shown.stdout).toContain(`stop the daemon (process ${daemon}) and the tmux server of its sessions\n`);
      expect(shown.stdout).toMatch(new RegExp(`delete from ${home.dir}: .*\\breeve\\.db\\b`));
      expect(shown.stdout).toContain(`These files stay:\n  ${home.dir}: config.toml\n`);
      const { status, stdout } = await home.run(["uninstall", "--json"]);
      expect(status).toBe(1);
      expect(planIn(stdout)).toMatchObject({ done: false, sessions: [{}, {}], daemon, service: null, data: [] });
      expect(planIn(stdout).kept).toContain(join(home.dir, "outputs", "agents"));
      expect(await home.daemonPid()).toBe(daemon);
      expect((await home.list()).map(({ state }) => state)).toEqual(["running", "running"]);
    });
  });
});

describe("with --yes", () => {
  test.concurrent("what ran has ended, what was recorded stays; a second time changes nothing", async () => {
    await inHome("[sessions]\nend_grace_seconds = 1\n", async (home) => {
      await startTwo(home);
      const pids = [await home.daemonPid(), serverPid(home)];
      expect(await home.run(["daemon", "install"])).toMatchObject({ status: 0 });
      const service = join(home.dir, ".config", "systemd", "user", "reeve.service");
      expect(existsSync(service)).toBe(true);

      const { status, stdout, stderr } = await home.run(["uninstall", "--yes"]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toMatch(/^plain is stopped\. .*ended/m);
      expect(stdout).toMatch(/^stubborn is stopped\. .*ended/m);
      expect(stdout).toMatch(/\nDone\. To remove the program too: npm uninstall -g reeve\n$/);
      expect(pids.filter(lives)).toEqual([]);
      expect(home.marked()).toEqual([]);
      expect(existsSync(service)).toBe(false);
      expect(existsSync(join(home.dir, "reeve.db"))).toBe(true);

      expect(await home.run(["uninstall", "--yes"])).toMatchObject({ status: 0, stderr: "" });
      // The newest end first.
      expect((await home.list()).map(({ name, state }) => [name, state])).toEqual([
        ["stubborn", "stopped"],
        ["plain", "stopped"],
      ]);
    });
  });

  test.concurrent("--data leaves the settings and what is somebody else's; then there is nothing left to remove", async () => {
    await inHome("[sessions]\nend_grace_seconds = 1\n", async (home) => {
      await startTwo(home);
      await home.daemonPid();
      const foreign = ["instances-of-mine", "run/mine", "outputs/report.txt", "cache/mine"];
      mkdirSync(join(home.dir, "cache"), { recursive: true });
      for (const name of foreign) writeFileSync(join(home.dir, name), "mine");
      const units = join(home.dir, ".config", "systemd", "user");
      mkdirSync(units, { recursive: true });
      const other = "[Unit]\nDescription=Reeve, which looks after agent sessions\nEnvironment=REEVE_HOME=/another\n";
      writeFileSync(join(units, "reeve.service"), other);

      const { status, stdout } = await home.run(["uninstall", "--data", "--yes", "--json"]);
      expect({ status, ...planIn(stdout) }).toMatchObject({ status: 0, done: true, service: null });
      const left = readdirSync(home.dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(home.dir.length + 1));
      expect(left.toSorted()).toEqual([...foreign, "config.toml", ".config/systemd/user/reeve.service"].toSorted());

      const again = await home.run(["uninstall", "--data", "--yes"]);
      expect(again).toMatchObject({ status: 0, stderr: "" });
      expect(again.stdout).toBe(
        `There is nothing of Reeve in ${home.dir}. To remove the program: npm uninstall -g reeve\n`,
      );
    });
  });
});

test.concurrent("a person is asked at the terminal: no is no, yes is yes", async () => {
  await inHome("", async (home) => {
    await home.json("start", "command", "--name", "plain", "--", "sleep", "600");
    const terminal = (...args: readonly string[]) =>
      runProgram("tmux", ["-S", join(home.dir, "person.sock"), "-f", "/dev/null", ...args], home.environment);
    const screenHas = (text: string) =>
      eventually(`the screen shows ${text}`, async () => (await terminal("capture-pane", "-p")).stdout.includes(text));
    const program = `${join(ROOT, "bin", "reeve")} uninstall`;
    const line = `${program}; echo first ended with $?; ${program}; echo second ended with $?; sleep 600`;
    await terminal("new-session", "-d", "-x", "120", "-y", "50", line);
    try {
      await screenHas("Go on? [y/N]");
      await terminal("send-keys", "n", "Enter");
      await screenHas("first ended with 1");
      expect(await home.session("plain")).toMatchObject({ state: "running" });
      await eventually("it asks again", async () => {
        const { stdout } = await terminal("capture-pane", "-p");
        return stdout.split("Go on? [y/N]").length === 3;
      });
      await terminal("send-keys", "yes", "Enter");
      await screenHas("second ended with 0");
      expect(home.marked()).toEqual([]);
    } finally {
      await terminal("kill-server");
    }
  });
});

test.concurrent("the tmux server is left alone while something else runs in it", async () => {
  await inHome("", async (home) => {
    await home.json("start", "command", "--name", "plain", "--", "sleep", "600");
    const tmux = (...args: readonly string[]) => runProgram("tmux", ["-S", home.tmuxSocket, ...args], home.environment);
    await tmux("new-session", "-d", "-s", "mine", "sleep 600");
    const refused = await home.run(["uninstall", "--data", "--yes"]);
    expect(refused).toMatchObject({
      status: 1,
      stderr: "The tmux server was left alone: 1 program still runs in it. End what runs there and try again.\n",
    });
    expect(existsSync(join(home.dir, "reeve.db"))).toBe(true);
    expect((await tmux("has-session", "-t", "=mine")).status).toBe(0);
    await tmux("kill-session", "-t", "=mine");
    expect(await home.run(["uninstall", "--yes"])).toMatchObject({ status: 0 });
  });
});
