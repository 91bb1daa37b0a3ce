/** Every end: asked for or not, it is proven, complete and told to whoever waits. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

const STUBBORN = `
trap '' HUP TERM
(setsid sh -c "trap '' HUP TERM; while :; do sleep 1; done" &)
setsid sleep 603 &
(sh -c 'sleep 604 & sleep 605' &)
echo ready
while :; do sleep 1; done`;

async function run(name: string, ...argv: readonly string[]): Promise<string> {
  const { session_id } = await home.json<{ session_id: string }>("start", "command", "--name", name, "--", ...argv);
  await eventually(`${name} runs`, async () => (await home.session(name)).state === "running");
  return session_id;
}

test("a session that traps HUP and TERM and has setsid children is ended whole, and the answer says how", async () => {
  const id = await run("stubborn", "sh", "-c", STUBBORN);
  await eventually("all its processes are there", () => home.marked(id).length >= 7);
  const { status, stdout } = await home.run(["end", "stubborn", "--grace", "0.3"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/All \d+ processes .*ended, \d+ killed/);
  expect(home.marked(id)).toEqual([]);
  expect(await home.session("stubborn")).toMatchObject({ state: "stopped", desired: "stopped" });
  expect((await home.run(["end", "stubborn"])).status).toBe(0);
});

test("stopping the daemon in the middle of an end leaves the session its grace; the next one finishes it", async () => {
  const id = await run(
    "slow",
    "sh",
    "-c",
    "trap 'touch \"$HOME/ending\"; sleep 3; exit 0' TERM; while :; do sleep 0.1; done",
  );
  const ending = home.run(["end", "slow", "--grace", "60"]);
  await eventually("it was asked to end", async () =>
    (await home.events()).some((event) => event.type === "end-requested"),
  );
  await home.run(["daemon", "stop"]);
  expect((await ending).status).toBe(0);
  expect(home.marked(id)).toEqual([]);
  expect(await home.session("slow")).toMatchObject({ state: "stopped", exit: { code: 0, signal: null } });
});

test("the daemon that stops leaves no empty tmux server, and says what it leaves", async () => {
  const hasServer = async (): Promise<boolean> =>
    (await runProgram("tmux", ["-S", home.tmuxSocket, "display-message", "-p", "#{pid}"], home.environment)).status ===
    0;
  await run("one", "sleep", "600");
  expect((await home.run(["daemon", "stop"])).stdout).toMatch(/has stopped; sessions run on\.$/m);
  expect(await hasServer()).toBe(true);
  await home.json("end", "one", "--when", "now");
  expect((await home.run(["daemon", "stop"])).stdout).toMatch(/has stopped; no session was left\.$/m);
  await eventually("its tmux server is gone", async () => !(await hasServer()));
});

test("children that outlive their session's own exit are ended too", async () => {
  // It goes when it is told to: by itself it might be gone, on a busy machine, before anybody saw it run.
  const id = await run("parent", "sh", "-c", "setsid sleep 606 & read go; exit 0");
  await home.run(["send", "parent", "go"]);
  await eventually("it stopped by itself", async () => (await home.session("parent")).state === "stopped");
  await eventually("nothing of it is left", () => home.marked(id).length === 0);
  expect((await home.list()).map((session) => session.name)).toEqual(["parent"]);
});

describe("wait returns however it dies", () => {
  const deaths = {
    "exits with 0": { argv: ["sh", "-c", "read x; exit 0"], kill: () => home.run(["send", "dying", "go"]) },
    "exits with 5": { argv: ["sh", "-c", "read x; exit 5"], kill: () => home.run(["send", "dying", "go"]) },
    "is killed with SIGKILL": {
      argv: ["sleep", "600"],
      kill: async (id: string) => home.marked(id).forEach(({ pid }) => killIfThere(pid)),
    },
    "loses its tmux server": {
      argv: ["sleep", "600"],
      kill: () => runProgram("tmux", ["-S", home.tmuxSocket, "kill-server"], home.environment),
    },
    "is ended": { argv: ["sleep", "600"], kill: () => home.run(["end", "dying"]) },
  } as const;
  test.each(Object.keys(deaths) as (keyof typeof deaths)[])("%s", async (death) => {
    const { argv, kill } = deaths[death];
    const id = await run("dying", ...argv);
    const waiting = home.json<{ done: boolean; reason: string; cursor: number }>("wait", "dying", "--timeout", "20");
    await kill(id);
    expect(await waiting).toMatchObject({ done: true, reason: "exited" });
  });
});

test("a wait goes on across a daemon that is killed, and finds what happened meanwhile by its cursor", async () => {
  const id = await run("worker", "sleep", "600");
  const { cursor } = await home.json<{ cursor: number }>("daemon", "status");
  const waiting = home.json<{ done: boolean; reason: string; session: { session_id: string } }>(
    "wait",
    "worker",
    "--timeout",
    "20",
  );
  await home.killDaemon();
  home.marked(id).forEach(({ pid }) => killIfThere(pid));
  expect(await waiting).toMatchObject({ done: true, reason: "exited", session: { session_id: id } });
  expect(await home.json("wait", "worker", "--since", String(cursor), "--timeout", "5")).toMatchObject({
    done: true,
    reason: "exited",
  });
});

test("a wait that nothing ends says so, with a cursor to go on from", async () => {
  await run("quiet", "sleep", "600");
  const { status, stdout } = await home.run(["wait", "quiet", "--timeout", "0.3", "--json"]);
  expect(status).toBe(75);
  expect(JSON.parse(stdout)).toMatchObject({ done: false, reason: "timeout", cursor: expect.any(Number) });
});

test("any of several, all of several", async () => {
  await run("first", "sh", "-c", "read x");
  await run("second", "sh", "-c", "read x");
  const any = home.json<{ woken: { name: string }[] }>("wait", "first", "second", "--any", "--timeout", "20");
  const all = home.json<{ woken: { name: string }[] }>("wait", "first", "second", "--all", "--timeout", "20");
  await home.run(["send", "second", "go"]);
  expect((await any).woken.map((woken) => woken.name)).toEqual(["second"]);
  await home.run(["send", "first", "go"]);
  expect((await all).woken.map((woken) => woken.name).toSorted()).toEqual(["first", "second"]);
});

test("the restart policy starts a failing session again, and a clean exit only if it says always", async () => {
  await home.json("start", "command", "--name", "fails", "--restart", "on-failure", "--", "sh", "-c", "exit 3");
  await home.json("start", "command", "--name", "ends", "--restart", "on-failure", "--", "sh", "-c", "exit 0");
  await eventually("it was started again", async () => Number((await home.session("fails"))["restarts"]) >= 2, 15_000);
  expect(await home.session("ends")).toMatchObject({ state: "stopped", restarts: 0 });
});
