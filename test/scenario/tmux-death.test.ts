/** What happens to the tmux server, and what is said about it. */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
  home.configure("[sessions]\nhealth_interval_seconds = 0.3\norphan_grace_seconds = 0\nsweep_interval_seconds = 0.3\n");
});
afterEach(() => home.dispose());

const tmux = (...args: readonly string[]) => runProgram("tmux", ["-S", home.tmuxSocket, ...args], home.environment);

async function startThree(): Promise<void> {
  for (const name of ["one", "two", "three"]) await home.json("start", "command", "--name", name, "--", "sleep", "600");
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
}

test("kill -9 of the server: each session is reported dead once, with that reason; another server is untouched", async () => {
  const other = createTestHome();
  try {
    await other.json("start", "command", "--name", "elsewhere", "--", "sleep", "600");
    await startThree();
    const server = Number((await tmux("display-message", "-p", "#{pid}")).stdout);
    process.kill(server, "SIGKILL");
    await eventually("all are reported", async () => (await home.list()).every((session) => session.state === "error"));
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
});

test("the server dies while there is no daemon: its sessions' programs are hung up, and the next daemon says so", async () => {
  await startThree();
  await home.killDaemon();
  await tmux("kill-server");
  await eventually("their programs ended", () => home.marked().length === 0);
  expect((await home.list()).map((session) => [session.state, session.liveness])).toEqual([
    ["error", "absent"],
    ["error", "absent"],
    ["error", "absent"],
  ]);
});

test("the socket file removed: unreachable, never dead, and it recovers", async () => {
  await startThree();
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
});

test("a stopped server is unreachable, and running again once it goes on", async () => {
  await startThree();
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
}, 60_000);

test("a look-alike made by hand survives the sweep; what carries the mark and belongs to nobody does not", async () => {
  await home.json("start", "command", "--name", "real", "--", "sleep", "600");
  await eventually("it runs", async () => (await home.session("real")).state === "running");
  await tmux("new-session", "-d", "-s", "abcdefghjk", "sleep", "601");
  const instance = (await runProgram("cat", [join(home.dir, "instance")], home.environment)).stdout.trim();
  const stray = await runProgram("sh", ["-c", "setsid sleep 602 >/dev/null 2>&1 </dev/null & echo $!"], {
    ...home.environment,
    REEVE_MARK: `${instance}.forgotten.1`,
  });
  await eventually("the stray is reaped", async () =>
    (await home.events()).some((event) => event.type === "orphan-reaped"),
  );
  expect(home.marked("forgotten")).toEqual([]);
  expect(stray.status).toBe(0);
  expect((await tmux("list-sessions", "-F", "#{session_name}")).stdout).toContain("abcdefghjk");
  expect(await home.session("real")).toMatchObject({ state: "running" });
  await tmux("kill-session", "-t", "=abcdefghjk");
});

test("a pane that only claims to be a session's survives its end and the sweep (issue 7, 18)", async () => {
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
  await runProgram("sh", ["-c", "setsid sleep 602 >/dev/null 2>&1 </dev/null &"], {
    ...home.environment,
    REEVE_MARK: `${instance}.stray.1`,
  });
  await eventually("the stray is reaped", async () =>
    (await home.events()).some((event) => event.type === "orphan-reaped"),
  );
  await home.json("end", "real");
  expect((await pids()).filter((line) => /^(?:beside|nobodys) /.test(line))).toEqual(theirs);
  for (const line of theirs) process.kill(Number(line.split(" ")[1]), 0);
  for (const name of ["beside", "nobodys"]) await tmux("kill-session", "-t", `=${name}`);
});

test("a session killed by hand in tmux is reported as gone", async () => {
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
});
