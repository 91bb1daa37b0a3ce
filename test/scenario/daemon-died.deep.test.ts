/** No daemon ends without a word: what it died of is in the log, and the next one tells it. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { askDaemon } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

const deaths = async (): Promise<readonly Record<string, unknown>[]> =>
  (await home.events()).filter((event) => event.type === "daemon-died").map((event) => event.data);

test.each(["throw", "reject"])(
  "an error that nobody caught (%s): logged with its stack, told by the next daemon, and sessions and waiters go on",
  { timeout: 60_000 },
  async (how) => {
    await home.json("start", "command", "--name", "lasting", "--", "sleep", "600");
    await eventually("it runs", async () => (await home.session("lasting")).state === "running");
    const { runtime } = await home.session("lasting");
    const waiting = home.json("wait", "lasting", "--for", "exited", "--timeout", "50");
    const pid = await home.daemonPid();
    home.failAt(`${how} send.after-commit`);
    // The message is recorded, the daemon breaks, and the command is answered by the next one.
    expect(await home.json("send", "lasting", "x", "--timeout", "0")).toMatchObject({
      session_id: expect.any(String) as string,
    });
    await eventually("it is gone", () => !existsSync(`/proc/${pid}`));
    expect(await home.daemonPid()).not.toBe(pid);
    const { version } = await home.json<{ version: string }>("daemon", "status");
    expect(await deaths()).toMatchObject([{ pid, version, started_at: expect.stringMatching(/^20.*Z$/) as string }]);
    expect(String((await deaths())[0]?.["error"])).toMatch(/^Error: failpoint send\.after-commit\n {4}at /);
    expect(readFileSync(join(home.dir, "daemon.log"), "utf8")).toMatch(
      /an error was not caught, and the daemon ends.*failpoint send\.after-commit\\n {4}at /,
    );
    const { warnings } = await home.json<{ warnings: string[] }>("daemon", "status");
    expect(warnings.join("\n")).toContain(`(process ${pid}) died of an error: Error: failpoint send.after-commit`);
    expect((await home.run(["events"])).stdout).toContain("died: Error: failpoint send.after-commit");
    expect((await home.session("lasting")).runtime.pid).toBe(runtime.pid);
    await home.json("end", "lasting", "--when", "now", "--grace", "0");
    expect(await waiting).toMatchObject({ done: true, reason: "exited" });
  },
);

test("one that was killed is told as such, once; one that stopped in order is not", { timeout: 60_000 }, async () => {
  const first = await home.daemonPid();
  await home.json("daemon", "stop");
  const second = await home.killDaemon();
  const third = await home.killDaemon();
  expect(await deaths()).toMatchObject([
    { pid: second, error: null },
    { pid: third, error: null },
  ]);
  await home.json("daemon", "stop");
  expect(await deaths()).toHaveLength(2);
  expect([second, third]).not.toContain(first);
});

test("deaths are not lost when the next daemon dies before it has told them", { timeout: 60_000 }, async () => {
  const first = await home.killDaemon();
  home.failAt("store.before-commit");
  const second = home.run(["list"]);
  expect((await second).status).toBe(0);
  expect(home.isFailpointArmed()).toBe(false);
  const told = await deaths();
  expect(told).toHaveLength(2);
  expect(told[0]).toMatchObject({ pid: first });
});

test("what Node itself said when it broke is told too", { timeout: 60_000 }, async () => {
  await home.daemonPid();
  // As it prints it when the heap is full; only then does anything stand there.
  appendFileSync(join(home.dir, "daemon.stderr"), "FATAL ERROR: Reached heap limit Allocation failed\n");
  const pid = await home.killDaemon();
  expect(await deaths()).toMatchObject([{ pid, error: "FATAL ERROR: Reached heap limit Allocation failed" }]);
  expect(readFileSync(join(home.dir, "daemon.stderr"), "utf8")).toBe("");
});

test("many who start a daemon that is there already leave nothing on its stderr", async () => {
  await Promise.all(Array.from({ length: 10 }, () => home.run(["list"])));
  expect(await askDaemon(home, "/v1/daemon")).not.toBeNull();
  expect(readFileSync(join(home.dir, "daemon.stderr"), "utf8")).toBe("");
});

test("a test whose daemon dies unasked fails", async () => {
  const other = createTestHome();
  await other.json("daemon", "start");
  const { pid } = await other.json<{ pid: number }>("daemon", "status");
  process.kill(pid, "SIGKILL");
  await expect(other.dispose()).rejects.toThrow(new RegExp(`a daemon died unasked: .*"pid":${pid}\\b`));
});
