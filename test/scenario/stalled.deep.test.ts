/** A turn of which nothing is heard: told once, shown until it is over, and only while it should be working. */
import { setTimeout as pass } from "node:timers/promises";
import { expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { TestHome } from "../support/test-home.ts";

/** Longer than two commands take, one after the other, on a busy machine. */
const TOML = "[sessions]\nstall_seconds = 3\n";

async function start(home: TestHome, name: string, prompt: string, activity = "working"): Promise<void> {
  await home.json("start", "practice", "--name", name, prompt);
  await eventually(`it is ${activity}`, async () => (await askSession(home, name))?.["activity"] === activity);
}

async function stalls(home: TestHome, name: string): Promise<number> {
  const { session_id } = await home.session(name);
  const events = await home.events();
  return events.filter((event) => event.session_id === session_id && event.type === "session-stalled").length;
}

const hasStalled = async (home: TestHome, name: string): Promise<boolean> =>
  typeof (await askSession(home, name))?.["stalled_since"] === "string";

/** Whatever hung before this began to hang has stalled by the time it has. */
async function untilAnotherStalls(home: TestHome, name: string): Promise<void> {
  await start(home, name, "sleep 60");
  await eventually("the other has stalled", () => hasStalled(home, name));
}

test.concurrent("wakes who waits, once per turn; the list says so until the turn is over", () =>
  inHome(TOML, async (home) => {
    await start(home, "hanger", "sleep 10");
    const first = await home.json<{ reason: string; cursor: number }>("wait", "hanger", "--since", "0");
    expect(first).toMatchObject({ done: true, reason: "stalled" });
    // Who asks without a cursor is told what is so now.
    expect(await home.json("wait", "hanger", "--timeout", "0")).toMatchObject({ done: true, reason: "stalled" });
    const session = await home.session("hanger");
    expect(session).toMatchObject({
      state: "running",
      activity: "working",
      turn_open: true,
      stalled_since: expect.stringMatching(/^\d{4}-/) as string,
      guidance: expect.stringContaining("Nothing was heard") as string,
    });
    expect((await home.run(["list"])).stdout).toMatch(/hanger .* stalled \d+/);

    const second = await home.json<{ reason: string; cursor: number }>(
      "wait",
      "hanger",
      "--since",
      String(first.cursor),
    );
    expect(second).toMatchObject({ done: true, reason: "turn-completed" });
    expect(await home.session("hanger")).toMatchObject({ activity: "idle", stalled_since: null });
    expect((await home.run(["list"])).stdout).not.toContain("stalled");
    expect(await stalls(home, "hanger")).toBe(1);

    await home.json("send", "hanger", "sleep 60");
    const third = await home.json("wait", "hanger", "--since", String(second.cursor));
    expect(third).toMatchObject({ done: true, reason: "stalled", session: { turns: 2 } });
    expect(await stalls(home, "hanger")).toBe(2);
  }));

test.concurrent("paused, suspended, asking or idle it does not stall; resumed it does", () =>
  inHome(TOML, async (home) => {
    await start(home, "detached", "sleep 60");
    await home.json("pause", "detached");
    await start(home, "suspended", "sleep 60");
    await home.json("pause", "suspended", "--suspend");
    await start(home, "asking", "ask to list files", "awaiting-approval");
    await start(home, "idle", "say something", "idle");
    await untilAnotherStalls(home, "control");
    const quiet = ["detached", "suspended", "asking", "idle"];
    for (const name of quiet) expect([name, await stalls(home, name)]).toEqual([name, 0]);

    await home.json("resume", "detached", "suspended");
    for (const name of ["detached", "suspended"]) await eventually(`${name} has stalled`, () => hasStalled(home, name));
    for (const name of quiet) expect([name, await stalls(home, name)]).toEqual([name, quiet.indexOf(name) < 2 ? 1 : 0]);
  }));

test.concurrent("a daemon that is restarted does not say it again, and one that was away says it at all", () =>
  inHome(TOML, async (home) => {
    await start(home, "before", "sleep 60");
    await eventually("it has stalled", () => hasStalled(home, "before"));
    const { stalled_since } = await home.session("before");
    await start(home, "meanwhile", "sleep 60");
    await home.killDaemon();
    await untilAnotherStalls(home, "after");
    await eventually("so has the one", () => hasStalled(home, "meanwhile"));
    expect(await home.session("before")).toMatchObject({ stalled_since });
    for (const name of ["before", "meanwhile", "after"]) expect([name, await stalls(home, name)]).toEqual([name, 1]);
  }));

/** Longer than the turn, and than its silence would have to last by five seconds: what is no busy machine any more. */
const STOPPED_MS = 12_000;

test.concurrent("a daemon that was stopped reads what happened meanwhile before it says that a turn stalled", () =>
  inHome("[sessions]\nstall_seconds = 4\n", async (home) => {
    await start(home, "worker", "sleep 6");
    const daemon = await home.daemonPid();
    process.kill(daemon, "SIGSTOP");
    try {
      await pass(STOPPED_MS);
    } finally {
      process.kill(daemon, "SIGCONT");
    }
    expect(await home.json("wait", "worker", "--since", "0")).toMatchObject({ done: true, reason: "turn-completed" });
    expect(await stalls(home, "worker")).toBe(0);
  }));
