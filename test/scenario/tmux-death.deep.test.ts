/** What happens to the tmux server, and what is said about it. */
import { spawn } from "node:child_process";
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attachArguments } from "../../src/runtime/driver/server-config.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Result, TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const SETTINGS = "[sessions]\nhealth_interval_seconds = 0.3\norphan_grace_seconds = 0\nsweep_interval_seconds = 0.3\n";

type Tmux = (...args: readonly string[]) => Promise<Result>;

/** A test in a home of its own, with the tmux that its sessions run in. */
function withTmux(act: (home: TestHome, tmux: Tmux) => Promise<void>): () => Promise<void> {
  return () =>
    inHome(SETTINGS, (home) =>
      act(home, (...args) => runProgram("tmux", ["-S", home.tmuxSocket, ...args], home.environment)),
    );
}

async function startThree(home: TestHome): Promise<void> {
  for (const name of ["one", "two", "three"]) await home.json("start", "command", "--name", name, "--", "sleep", "600");
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
}

/** Leaves a program behind that carries the mark it is given. The shell itself does not: the sweep would end it as well. */
const STRAY = 'REEVE_MARK="$0" setsid sleep 602 > /dev/null 2>&1 < /dev/null &';

test.concurrent(
  "kill -9 of the server: each session is reported dead once, with that reason; another server is untouched",
  withTmux(async (home, tmux) => {
    const other = createTestHome();
    try {
      await other.json("start", "command", "--name", "elsewhere", "--", "sleep", "600");
      await startThree(home);
      const server = Number((await tmux("display-message", "-p", "#{pid}")).stdout);
      process.kill(server, "SIGKILL");
      await eventually("all are reported", async () =>
        (await home.list()).every((session) => session.state === "error"),
      );
      for (const session of await home.list()) {
        expect(session.liveness).toBe("absent");
        expect(session.reason).toContain(`${server}`);
        await eventually("its processes are swept", () => home.marked(session.session_id).length === 0);
      }
      await home.killDaemon();
      const events = await home.events();
      expect(events.filter((event) => event.type === "session-exited")).toHaveLength(3);
      expect(events.filter((event) => event.type === "runtime-lost")).toHaveLength(1);
      expect(await other.session("elsewhere")).toMatchObject({ state: "running", liveness: "running" });

      expect((await home.json<{ session: { state: string } }>("restart", "one")).session.state).toBe("running");
      expect((await home.events()).filter((event) => event.type === "environment-lost")).toHaveLength(0);
    } finally {
      await other.dispose();
    }
  }),
);

test.concurrent(
  "the server dies while there is no daemon: its sessions' programs are hung up, and the next daemon says so",
  withTmux(async (home, tmux) => {
    await startThree(home);
    await home.killDaemon();
    await tmux("kill-server");
    await eventually("their programs ended", () => home.marked().length === 0);
    expect((await home.list()).map((session) => [session.state, session.liveness])).toEqual([
      ["error", "absent"],
      ["error", "absent"],
      ["error", "absent"],
    ]);
    // As after a reboot, and not again by the daemon after that one.
    await home.killDaemon();
    const lost = (await home.events()).filter((event) => event.type === "runtime-lost");
    expect(lost.map(({ data }) => data["sessions"])).toEqual([3]);
  }),
);

test.concurrent(
  "a server that cannot end because of a client that a killed daemon left: the next daemon ends that, and says what is so",
  withTmux(async (home, tmux) => {
    await home.json("start", "command", "--name", "loud", "--", "sh", "-c", "while :; do seq 1000; done");
    // As a daemon leaves it that is killed with output in flight: nobody reads its pipe any more (tmux 3.3a).
    const paths = { binary: "tmux", socket: home.tmuxSocket, config: "" };
    const [binary = "", ...args] = attachArguments(paths);
    const left = spawn(binary, args, { env: home.environment, stdio: ["pipe", "pipe", "ignore"] });
    try {
      await eventually("its pipe is full", () => (left.stdout?.readableLength ?? 0) > 0);
      left.stdout?.pause();
      await home.killDaemon();
      void tmux("kill-server");
      await eventually("its program ended", () => home.marked().length === 0);
      await eventually("its end is told", async () => (await home.session("loud")).liveness === "absent", 30_000);
    } finally {
      left.kill("SIGKILL");
    }
  }),
);

test.concurrent(
  "the socket file removed: unreachable, never dead, and it recovers",
  withTmux(async (home, tmux) => {
    await startThree(home);
    const pids = (await home.list()).map((session) => session.runtime.pid);
    unlinkSync(home.tmuxSocket);
    await home.killDaemon();
    await eventually("they are reachable again", async () =>
      (await home.list()).every((session) => session.liveness === "running"),
    );
    expect((await home.list()).map((session) => session.runtime.pid)).toEqual(pids);
    expect((await home.events()).filter((event) => event.type === "session-exited")).toEqual([]);
    // While the daemon keeps its connection the file is put back without anybody noticing.
    unlinkSync(home.tmuxSocket);
    await eventually("the socket is back", async () => (await tmux("list-sessions")).status === 0);
    expect((await home.list()).map((session) => session.state)).toEqual(["running", "running", "running"]);
  }),
);

test.concurrent(
  "a stopped server is unreachable, and running again once it goes on",
  withTmux(async (home, tmux) => {
    await startThree(home);
    const server = Number((await tmux("display-message", "-p", "#{pid}")).stdout);
    process.kill(server, "SIGSTOP");
    try {
      await eventually(
        "unreachable is said",
        async () => (await home.list()).every((session) => session.liveness === "unreachable"),
        20_000,
      );
      expect((await home.list()).map((session) => session.state)).toEqual(["running", "running", "running"]);
    } finally {
      process.kill(server, "SIGCONT");
    }
    await eventually(
      "it recovers",
      async () => (await home.list()).every((session) => session.liveness === "running"),
      20_000,
    );
    expect((await home.events()).filter((event) => event.type === "session-exited")).toEqual([]);
  }),
  60_000,
);

test.concurrent(
  "a look-alike made by hand survives the sweep; what carries the mark and belongs to nobody does not",
  withTmux(async (home, tmux) => {
    await home.json("start", "command", "--name", "real", "--", "sleep", "600");
    await eventually("it runs", async () => (await home.session("real")).state === "running");
    await tmux("new-session", "-d", "-s", "abcdefghjk", "sleep", "601");
    const instance = (await runProgram("cat", [join(home.dir, "instance")], home.environment)).stdout.trim();
    const stray = await runProgram("sh", ["-c", STRAY, `${instance}.forgotten.1`], home.environment);
    await eventually("the stray is reaped", async () =>
      (await home.events()).some((event) => event.type === "orphan-reaped"),
    );
    expect(home.marked("forgotten")).toEqual([]);
    expect(stray.status).toBe(0);
    expect((await tmux("list-sessions", "-F", "#{session_name}")).stdout).toContain("abcdefghjk");
    expect(await home.session("real")).toMatchObject({ state: "running" });
    await tmux("kill-session", "-t", "=abcdefghjk");
  }),
);

test.concurrent(
  "a pane that only claims to be a session's survives its end and the sweep",
  withTmux(async (home, tmux) => {
    await home.json("start", "command", "--name", "real", "--", "sleep", "600");
    await eventually("it runs", async () => (await home.session("real")).state === "running");
    const { session_id } = await home.session("real");
    const instance = (await runProgram("cat", [join(home.dir, "instance")], home.environment)).stdout.trim();
    for (const [name, mark] of [
      ["beside", `${instance}.${session_id}.1`],
      ["nobodys", `${instance}.forgotten.1`],
    ] as const) {
      await tmux("new-session", "-d", "-s", name, "sleep", "604");
      await tmux("set-option", "-p", "-t", `=${name}:`, "@reeve", mark);
    }
    const pids = async () => (await tmux("list-panes", "-a", "-F", "#{session_name} #{pane_pid}")).stdout.split("\n");
    const theirs = (await pids()).filter((line) => /^(?:beside|nobodys) /.test(line));
    expect(theirs).toHaveLength(2);
    // What is no session's is reaped by the same sweep: it has been round when this one is gone.
    await runProgram("sh", ["-c", STRAY, `${instance}.stray.1`], home.environment);
    await eventually("the stray is reaped", async () =>
      (await home.events()).some((event) => event.type === "orphan-reaped"),
    );
    await home.json("end", "real");
    expect((await pids()).filter((line) => /^(?:beside|nobodys) /.test(line))).toEqual(theirs);
    for (const line of theirs) process.kill(Number(line.split(" ")[1]), 0);
    for (const name of ["beside", "nobodys"]) await tmux("kill-session", "-t", `=${name}`);
  }),
);

test.concurrent(
  "a session killed by hand in tmux is reported as gone",
  withTmux(async (home, tmux) => {
    await home.json("start", "command", "--name", "victim", "--", "sleep", "600");
    await eventually("it runs", async () => (await home.session("victim")).state === "running");
    const { session_id } = await home.session("victim");
    const { stdout } = await tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name}");
    const pane =
      stdout
        .split("\n")
        .find((line) => line.endsWith(session_id))
        ?.split(" ")[0] ?? "";
    await tmux("kill-pane", "-t", pane);
    await eventually("it is reported", async () => (await home.session("victim")).state === "error");
    expect(await home.session("victim")).toMatchObject({ liveness: "absent", reason_code: "gone" });
  }),
);
