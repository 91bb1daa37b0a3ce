/**
 * Whatever disappears (the client, the MCP child, the daemon),
 * nothing is left behind, nothing is missed, and the next call works.
 */
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Listed, Started, Waited } from "../support/mcp-answers.ts";
import { connectSocket, connectStdio } from "../support/mcp-client.ts";

/** A turn that goes on until the test is over. */
const SLOW = { PRACTICE_PACE_MS: "60000" };

/** How many sockets the daemon has open. */
function socketsOf(pid: number): number {
  const directory = join("/proc", String(pid), "fd");
  return readdirSync(directory).filter((name) => {
    try {
      return readlinkSync(join(directory, name)).startsWith("socket:");
    } catch {
      return false;
    }
  }).length;
}

/** When those of the test's own questions are closed: the number stays the same for a while. */
function restingSockets(pid: number): Promise<number> {
  let [last, times] = [-1, 0];
  return eventually("its connections rest", () => {
    const now = socketsOf(pid);
    times = now === last ? times + 1 : 0;
    last = now;
    return times >= 10 && now;
  });
}

test(
  "a client that disappears in the middle of a wait leaves no process and no connection",
  () =>
    inHome("", async (home) => {
      const daemon = await home.daemonPid();
      const starter = await connectStdio(home);
      await starter.ok("start_session", { agent: "practice", name: "slow", prompt: "Say hello", env: SLOW });
      await starter.close();
      await eventually("it works", async () => (await home.session("slow"))["activity"] === "working");
      const before = await restingSockets(daemon);
      for (const connect of [() => connectStdio(home), () => connectStdio(home, { era: "legacy" })]) {
        const mcp = await connect();
        const waiting = mcp.ok("wait_for_session", { session: "slow" }).catch(() => "broken off");
        await eventually("it waits", () => socketsOf(daemon) > before);
        await mcp.close();
        expect(await waiting).toBe("broken off");
        await eventually("its process is gone", () => !existsSync(`/proc/${mcp.pid}`));
        await eventually("its connection is gone", () => socketsOf(daemon) === before);
      }
      for (const era of ["modern", "legacy"] as const) {
        const mcp = await connectSocket(home, { era });
        const given = new AbortController();
        const call = { name: "wait_for_session", arguments: { session: "slow" } };
        const waiting = mcp.client.callTool(call, { signal: given.signal }).catch(() => "given up");
        await eventually("it waits", () => socketsOf(daemon) > before);
        given.abort();
        expect(await waiting).toBe("given up");
        await mcp.close();
        await eventually("its connection is gone", () => socketsOf(daemon) === before);
      }
      expect(await home.daemonPid()).toBe(daemon);
    }),
  60_000,
);

test(
  "a wait that was cancelled and a subscription that was closed leave nothing, on a connection that stays",
  () =>
    inHome("", async (home) => {
      const daemon = await home.daemonPid();
      await home.json("start", "practice", "--name", "slow", "--env", "PRACTICE_PACE_MS=60000", "Say hello");
      await eventually("it works", async () => (await home.session("slow"))["activity"] === "working");
      const rest = await restingSockets(daemon);
      for (const connect of [() => connectStdio(home), () => connectSocket(home)]) {
        const mcp = await connect();
        const given = new AbortController();
        const call = { name: "wait_for_session", arguments: { session: "slow" } };
        const waiting = mcp.client.callTool(call, { signal: given.signal }).catch(() => "given up");
        await eventually("it waits", () => socketsOf(daemon) > rest);
        given.abort();
        expect(await waiting).toBe("given up");
        await eventually("the wait is gone", () => socketsOf(daemon) <= rest);

        const subscription = await mcp.client.listen({ resourceSubscriptions: ["reeve://sessions"] });
        await eventually("it listens", () => socketsOf(daemon) > rest);
        await subscription.close();
        await eventually("the subscription is gone", () => socketsOf(daemon) <= rest);
        expect(await mcp.ok<Listed>("list_sessions")).toMatchObject({ sessions: [{ name: "slow" }] });
        await mcp.close();
      }
      await home.json("end", "slow", "--when", "now", "--grace", "0");
    }),
  60_000,
);

test("the MCP child is killed in a wait; the next one goes on from the cursor and misses nothing", () =>
  inHome("", async (home) => {
    const first = await connectStdio(home);
    const started = await first.ok<Started>("start_session", { agent: "practice", name: "w", prompt: "Say hello" });
    await first.ok("wait_for_session", { session: "w", since: started.cursor });
    const asked = await first.ok<Waited>("wait_for_session", { session: "w", for: ["exited"], timeout_seconds: 0 });
    expect(asked).toMatchObject({ done: false, reason: "timeout", asleep: [started.session_id] });
    const broken = first.ok("wait_for_session", { session: "w", for: ["exited"] }).catch(() => "broken off");
    process.kill(first.pid, "SIGKILL");
    expect(await broken).toBe("broken off");
    // What it waits for happens while nobody waits.
    await home.json("send", "w", "crash");
    await eventually("it died", async () => (await home.session("w")).liveness === "exited");
    const second = await connectStdio(home);
    const waited = await second.ok<Waited>("wait_for_session", {
      session: asked.asleep[0],
      for: ["exited"],
      since: asked.cursor,
    });
    expect(waited).toMatchObject({ done: true, reason: "exited" });
    await second.ok("end_session", { session: "w" });
    await second.close();
  }));

test("the daemon is killed under a connected client; the wait goes on and the next call works", () =>
  inHome("", async (home) => {
    const mcp = await connectStdio(home);
    const slow = { PRACTICE_PACE_MS: "1500" };
    const started = await mcp.ok<Started>("start_session", {
      agent: "practice",
      name: "w",
      prompt: "Say hello",
      env: slow,
    });
    const waiting = mcp.ok<Waited>("wait_for_session", { session: "w", since: started.cursor });
    await eventually("it works", async () => (await home.session("w"))["activity"] === "working");
    await home.killDaemon();
    expect(await waiting).toMatchObject({ done: true, reason: "turn-completed" });
    await home.killDaemon();
    expect(await mcp.ok<Listed>("list_sessions")).toMatchObject({ sessions: [{ name: "w", state: "running" }] });
    await home.killDaemon();
    const again = await mcp.ok<Started>("start_session", { agent: "practice", name: "v" });
    await home.killDaemon();
    expect(await mcp.ok("end_session", { session: again.session_id, when: "now" })).toMatchObject({ done: true });
    expect(await mcp.ok("end_session", { session: "w", when: "now" })).toMatchObject({ done: true });
    expect(await mcp.ok("list_sessions")).toMatchObject({ sessions: [] });
    await mcp.close();
  }));
