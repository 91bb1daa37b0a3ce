/** The daemon dies; sessions do not, and nothing is forgotten. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

test("three sessions started at once: three ids, listed from the start, each starting and then running", async () => {
  const started = await Promise.all(
    ["a", "b", "c"].map((name) => home.json<SessionRow>("start", "command", "--name", name, "--", "sleep", "600")),
  );
  expect(new Set(started.map((session) => session.session_id)).size).toBe(3);
  for (const { state } of started) expect(state).toBeOneOf(["starting", "running"]);
  expect((await home.list()).map((session) => session.name).toSorted()).toEqual(["a", "b", "c"]);
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
  const events = await home.events();
  for (const { session_id } of started) {
    const states = events
      .filter((event) => event.session_id === session_id && event.type.startsWith("session-"))
      .map((event) => event.type);
    expect(states).toEqual(["session-planned", "session-starting", "session-running"]);
  }
});

test("kill -9 with ten sessions at work: all adopted with the same pids, no event missing, nothing started twice", async () => {
  const names = Array.from({ length: 10 }, (_, index) => `work-${index}`);
  await Promise.all(
    names.map((name) =>
      home.json("start", "command", "--name", name, "--", "sh", "-c", "while :; do echo working; sleep 0.2; done"),
    ),
  );
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
  const pidsOf = async () =>
    Object.fromEntries((await home.list()).map((session) => [session.name, session.runtime.pid]));
  const before = await pidsOf();
  const eventsBefore = await home.events();
  const dead = await home.killDaemon();

  expect(await pidsOf()).toEqual(before);
  expect(await home.daemonPid()).not.toBe(dead);
  const events = await home.events();
  expect(events.slice(0, eventsBefore.length)).toEqual(eventsBefore);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter((event) => event.type === "session-adopted")).toHaveLength(10);
  expect((await home.list()).map((session) => session.liveness)).toEqual(names.map(() => "running"));
  for (const session of await home.list()) {
    const wrappers = home.marked(session.session_id).filter((found) => found.pid === session.runtime.pid);
    expect(wrappers).toHaveLength(1);
    expect(home.marked(session.session_id).every((found) => found.incarnation === 1)).toBe(true);
  }
});

test("kill -9 while a session prints without end: it goes on printing, with nobody to read it", async () => {
  const counter = join(home.dir, "counter");
  const loud = 'while :; do seq 2000; n=$((n + 1)); echo $n > "$0"; done';
  await home.json("start", "command", "--name", "loud", "--", "sh", "-c", loud, counter);
  const count = (): number => Number(readIfThere(counter) ?? 0);
  await eventually("it prints", () => count() > 20);
  await home.killDaemon();
  // Far more than what fits into the buffers on the way.
  const then = count();
  await eventually("it goes on", () => count() > then + 500, 60_000);
});

test("what exits while there is no daemon is reported by the next one, with its status", async () => {
  await home.json(
    "start",
    "command",
    "--name",
    "short",
    "--cwd",
    home.dir,
    "--",
    "sh",
    "-c",
    "while [ ! -e go ]; do sleep 0.05; done; exit 7",
  );
  await eventually("it runs", async () => (await home.session("short")).state === "running");
  const { session_id } = await home.session("short");
  await home.killDaemon();
  writeFileSync(`${home.dir}/go`, "");
  await eventually("its process ended", () => home.marked(session_id).length === 0);
  expect(await home.session("short")).toMatchObject({
    state: "error",
    liveness: "exited",
    exit: { code: 7, signal: null },
  });
});

test("a hundred commands on a cold home start one daemon", async () => {
  const results = await Promise.all(Array.from({ length: 100 }, () => home.run(["list", "--json"])));
  expect(results.filter((result) => result.status !== 0)).toEqual([]);
  expect((await home.events()).filter((event) => event.type === "daemon-started")).toHaveLength(1);
});

test("daemon stop leaves the sessions alone", async () => {
  await home.json("start", "command", "--name", "stays", "--", "sleep", "600");
  await eventually("it runs", async () => (await home.session("stays")).state === "running");
  const { session_id, runtime } = await home.session("stays");
  await home.json("daemon", "stop");
  expect(home.marked(session_id).map((found) => found.pid)).toContain(runtime.pid);
  expect((await home.run(["daemon", "status"])).status).toBe(1);
  expect((await home.session("stays")).runtime.pid).toBe(runtime.pid);
});
