/** A wait over MCP ends for whatever happens to a worker, of one or several, and goes on without a gap. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Started, Waited } from "../support/mcp-answers.ts";
import type { Tools } from "../support/mcp-client.ts";
import { connectSocket, connectStdio } from "../support/mcp-client.ts";
import type { TestHome } from "../support/test-home.ts";

const FAST = { PRACTICE_PACE_MS: "20" };
const SLOW = { PRACTICE_PACE_MS: "60000" };

async function start(mcp: Tools, home: TestHome, name: string, prompt: string, env = FAST): Promise<Started> {
  return await mcp.ok<Started>("start_session", { agent: "practice", name, prompt, env, cwd: home.dir });
}

async function eachWay(home: TestHome, act: (mcp: Tools, way: string) => Promise<void>): Promise<void> {
  await home.daemonPid();
  for (const [way, mcp] of [
    ["stdio", await connectStdio(home)],
    ["socket", await connectSocket(home)],
  ] as const) {
    await act(mcp, way);
    await mcp.close();
  }
}

test("an approval, a failure and a death each end the wait, and say so", () =>
  inHome("", (home) =>
    eachWay(home, async (mcp, way) => {
      const asking = await start(mcp, home, `asks-${way}`, "ask to run the tests");
      const asked = await mcp.ok<Waited>("wait_for_session", { session: asking.session_id, since: asking.cursor });
      expect(asked).toMatchObject({ done: true, reason: "awaiting-approval" });
      expect(await mcp.ok("list_approvals")).toMatchObject({ approvals: [{ session_id: asking.session_id }] });
      const answered = await mcp.ok<Started>("answer_approval", { session: asking.session_id, decision: "approved" });
      const since = answered.cursor;
      expect(await mcp.ok("wait_for_session", { session: asking.session_id, since })).toMatchObject({
        done: true,
        reason: "turn-completed",
      });

      const failing = await mcp.ok<Started>("send_message", { session: asking.session_id, text: "fail on purpose" });
      expect(await mcp.ok("wait_for_session", { session: asking.session_id, since: failing.cursor })).toMatchObject({
        done: true,
        ok: false,
        reason: "turn-failed",
      });

      const dying = await start(mcp, home, `dies-${way}`, "Say hello", SLOW);
      await eventually("it works", async () => (await home.session(`dies-${way}`))["activity"] === "working");
      const waiting = mcp.ok<Waited>("wait_for_session", { session: dying.session_id, since: dying.cursor });
      const { pid } = (await home.session(`dies-${way}`)).runtime;
      process.kill(pid ?? 0, "SIGKILL");
      expect(await waiting).toMatchObject({ done: true, ok: false, reason: "exited" });
      for (const { session_id: session } of [asking, dying])
        expect(await mcp.ok("end_session", { session, when: "now" })).toMatchObject({ done: true });
    }),
  ));

test("any and all of several; what timed out goes on with those that sleep, and misses nothing", () =>
  inHome("", (home) =>
    eachWay(home, async (mcp, way) => {
      const [quick, slow] = [`quick-${way}`, `slow-${way}`];
      const one = await start(mcp, home, quick, "Say hello");
      const other = await start(mcp, home, slow, "Say hello", SLOW);
      const any = await mcp.ok<Waited>("wait_for_session", { session: slow, also: [quick] });
      expect(any).toMatchObject({ done: true, reason: "turn-completed", asleep: [other.session_id] });
      expect(any.woken.map(({ name }) => name)).toEqual([quick]);
      const all = await mcp.ok<Waited>("wait_for_session", {
        session: quick,
        also: [slow],
        mode: "all",
        timeout_seconds: 1,
      });
      expect(all).toMatchObject({ done: false, reason: "timeout", asleep: [other.session_id] });
      expect(all.woken.map(({ name }) => name)).toEqual([quick]);
      // It ends while nobody waits.
      await home.json("end", slow, "--when", "now", "--grace", "0");
      const [session, ...also] = all.asleep;
      const rest = await mcp.ok<Waited>("wait_for_session", { session, also, mode: "all", since: all.cursor });
      expect(rest).toMatchObject({ done: true, reason: "exited", asleep: [] });
      await mcp.ok("end_session", { session: one.session_id, when: "now" });
    }),
  ));

test(
  "a client that asked for progress is told every few seconds what its worker does",
  () =>
    inHome("", (home) =>
      eachWay(home, async (mcp, way) => {
        const name = `slow-${way}`;
        await start(mcp, home, name, "Say hello", SLOW);
        const told: { message?: string | undefined; progress: number; total?: number | undefined }[] = [];
        const args = { session: name, timeout_seconds: 200 };
        const given = new AbortController();
        const waiting = mcp.client
          .callTool(
            { name: "wait_for_session", arguments: args },
            { onprogress: (progress) => void told.push(progress), signal: given.signal },
          )
          .catch(() => "given up");
        await eventually("progress is told", () => told.length > 0, 20_000);
        expect(told[0]).toMatchObject({ message: `${name}: working`, total: 200 });
        expect(told[0]?.progress).toBeGreaterThan(5);
        given.abort();
        expect(await waiting).toBe("given up");
        await mcp.ok("end_session", { session: name, when: "now", grace_seconds: 0 });
      }),
    ),
  60_000,
);
