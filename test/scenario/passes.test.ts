/**
 * A session calls with its own pass, for itself and
 * what it started. Whatever else it tries is refused and recorded.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operations } from "../../src/operation/operations.ts";
import { askDaemon, askWithPass } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { insideOf, passOf, startSleeper as start } from "../support/session-caller.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";

interface Problem {
  readonly code: string;
  readonly detail: string;
}

/** Every operation, called on that session; those that name none are left out, and those that anybody may call on any. */
function callsOn(target: string): readonly { readonly name: string; readonly path: string; readonly body?: object }[] {
  return operations
    .filter(({ names, callers }) => names.length > 0 && callers.session !== "any")
    .map(({ name, method, path, names, example }) => {
      const fields: Record<string, unknown> = { ...example };
      for (const field of names) fields[field] = Array.isArray(fields[field]) ? [target] : target;
      const filled = path.replace(/\{([a-z_]+)\}/g, (_, field: string) => {
        const value = field === "session" ? target : String(fields[field]);
        delete fields[field];
        return encodeURIComponent(value);
      });
      if (method === "POST") return { name, path: filled, body: fields };
      const query = new URLSearchParams(
        Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
      );
      return { name, path: `${filled}?${query.toString()}` };
    });
}

async function refusals(home: TestHome): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await home.events()).filter(({ type }) => type === "call-refused").map(({ data }) => data);
}

test.concurrent("with its own pass a session reaches itself and nobody else; each try is refused and recorded", () =>
  inHome("", async (home) => {
    const a = await start(home, "a");
    const b = await start(home, "b");
    const pass = await passOf(home, a);
    const seen = await askWithPass<{ sessions: SessionRow[] }>(home, pass, "/v1/sessions");
    expect(seen?.sessions.map(({ name }) => name)).toEqual(["a"]);
    const calls = callsOn(b.session_id);
    expect(calls.length).toBeGreaterThan(12);
    for (const { name, path, body } of calls) {
      const answer = await askWithPass<Problem>(home, pass, path, body);
      expect([name, answer?.code]).toEqual([name, "not-allowed"]);
    }
    await eventually("each is recorded", async () => (await refusals(home)).length === calls.length);
    for (const refusal of await refusals(home))
      expect(refusal).toMatchObject({ code: "not-allowed", target: expect.stringContaining(b.session_id) as string });
    const told = (await home.events()).filter(({ type }) => type === "call-refused");
    expect(new Set(told.map(({ caller }) => caller))).toEqual(new Set([`session:${a.session_id}`]));
    expect(await home.session("b")).toMatchObject({ state: "running", desired: "running" });
  }));

test.concurrent("without a pass, with a wrong one, and with headers that claim to be somebody, nothing is answered", () =>
  inHome("", async (home) => {
    const a = await start(home, "a");
    const pass = await passOf(home, a);
    const wrong = `${pass.slice(0, -4)}AAAA`;
    expect((await askWithPass<Problem>(home, null, "/v1/sessions"))?.code).toBe("no-pass");
    expect((await askWithPass<Problem>(home, wrong, "/v1/sessions"))?.code).toBe("unknown-pass");
    expect((await askWithPass<Problem>(home, "a b", "/v1/sessions"))?.code).toBe("no-pass");
    expect(await askDaemon<object>(home, "/v1/sessions")).toHaveProperty("sessions");
    await eventually("they are recorded", async () => (await refusals(home)).length === 3);
    expect((await home.events()).filter(({ type }) => type === "call-refused").map(({ caller }) => caller)).toEqual([
      null,
      null,
      null,
    ]);
  }));

test.concurrent("a child is its caller's, whatever the request says; a stranger cannot be made its parent", () =>
  inHome("", async (home) => {
    const a = await start(home, "a");
    const b = await start(home, "b");
    const pass = await passOf(home, a);
    const request = { agent: "command", args: ["sleep", "600"], cwd: "/", environment: { PATH: "/usr/bin:/bin" } };
    const forged = await askWithPass<Problem>(home, pass, "/v1/sessions", { ...request, parent: b.session_id });
    expect(forged?.code).toBe("not-allowed");
    const child = await askWithPass<SessionRow>(home, pass, "/v1/sessions", { ...request, name: "child" });
    expect(child).toMatchObject({ parent_session_id: a.session_id });
    const seen = await askWithPass<{ sessions: SessionRow[] }>(home, pass, "/v1/sessions");
    expect(seen?.sessions.map(({ name }) => name).toSorted()).toEqual(["a", "child"]);
    // The child does not have its parent's pass, and does not reach it.
    await eventually("it runs", async () => (await home.session("child")).state === "running");
    const childs = await passOf(home, await home.session("child"));
    expect(childs).not.toBe(pass);
    const up = await askWithPass<Problem>(home, childs, `/v1/sessions/${a.session_id}/end`, { when: "now" });
    expect(up?.code).toBe("not-allowed");
    const down = await askWithPass<object>(home, pass, "/v1/sessions/child/end", { when: "now", grace_seconds: 0 });
    expect(down).toMatchObject({ done: true });
  }));

test.concurrent("a pass is good for one process, and gone with its session", () =>
  inHome("", async (home) => {
    const a = await start(home, "a");
    const first = await passOf(home, a);
    await home.json("restart", "a", "--grace", "0");
    await eventually("it runs again", async () => (await home.session("a")).state === "running");
    const second = await passOf(home, a);
    expect(second).not.toBe(first);
    expect((await askWithPass<Problem>(home, first, "/v1/sessions"))?.code).toBe("unknown-pass");
    expect(await askWithPass<object>(home, second, "/v1/sessions")).toHaveProperty("sessions");
    await home.json("end", "a", "--when", "now", "--grace", "0");
    expect((await askWithPass<Problem>(home, second, "/v1/sessions"))?.code).toBe("unknown-pass");
  }));

test.concurrent.each(["create.before-effect", "create.planned", "create.after-effect"])(
  "the daemon dies at %s: the pass of the process that runs is good",
  (point) =>
    inHome("", async (home) => {
      await home.daemonPid();
      home.failAt(point);
      const a = await home.json<SessionRow>("start", "command", "--name", "a", "--", "sleep", "600");
      home.expectDeath(Number(readFileSync(join(home.dir, "failpoint.fired"), "utf8").split(" ")[0]));
      await eventually("it runs", async () => (await home.session("a")).state === "running");
      const pass = await passOf(home, a);
      expect(await askWithPass<object>(home, pass, "/v1/sessions")).toHaveProperty("sessions");
    }),
);

test.concurrent("reeve in a session is that session, and without its pass it refuses to be the operator", () =>
  inHome("", async (home) => {
    await start(home, "other");
    const a = await start(home, "a");
    const inside = await insideOf(home, a);
    const listed = await home.run(["list", "-q"], { environment: inside });
    expect(listed).toMatchObject({ status: 0, stdout: "a\n" });
    const ended = await home.run(["end", "other", "--when", "now"], { environment: inside });
    expect(ended.status).not.toBe(0);
    expect(ended.stderr).toContain("Session a may not call end_session on other");
    const bare = await home.run(["list"], { environment: { REEVE_SESSION_ID: a.session_id } });
    expect(bare.status).not.toBe(0);
    expect(bare.stderr).toContain("let them through, or call Reeve from outside the session");
    // Whoever waits looks after a second whether the daemon is there: that is no call that could be refused.
    const before = await refusals(home);
    expect((await home.run(["wait", "a", "--for", "exited", "--timeout", "3"], { environment: inside })).status).toBe(
      75,
    );
    expect(await refusals(home)).toEqual(before);
    // A daemon that was killed is started again by whoever is there.
    await home.killDaemon();
    expect(await home.run(["list", "-q"], { environment: inside })).toMatchObject({ status: 0, stdout: "a\n" });
  }));

test.concurrent("how deep and how many is bounded, also for starts at the same time", () =>
  inHome("[sessions]\nmost_depth = 1\nmost_descendants = 3\n", async (home) => {
    const a = await start(home, "a");
    const pass = await passOf(home, a);
    const request = { agent: "command", args: ["sleep", "600"], cwd: "/", environment: { PATH: "/usr/bin:/bin" } };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => askWithPass<Partial<Problem & SessionRow>>(home, pass, "/v1/sessions", request)),
    );
    const refused = answers.filter((answer) => answer?.code === "too-many-descendants");
    expect(refused).toHaveLength(5);
    const [child] = answers.filter((answer) => answer?.session_id !== undefined);
    const childs = await passOf(home, child as SessionRow);
    const deeper = await askWithPass<Problem>(home, childs, "/v1/sessions", request);
    expect(deeper).toMatchObject({ code: "too-deep" });
    expect(deeper?.detail).toContain("most_depth");
  }));

test.concurrent("the bounds count the living tree, also for what is started again or below another session", () =>
  inHome("[sessions]\nmost_depth = 2\nmost_descendants = 2\n", async (home) => {
    const a = await start(home, "a");
    const pass = await passOf(home, a);
    const request = { agent: "command", args: ["sleep", "600"], cwd: "/", environment: { PATH: "/usr/bin:/bin" } };
    const child = (more: object) =>
      askWithPass<Partial<Problem & SessionRow>>(home, pass, "/v1/sessions", { ...request, ...more });
    const one = await child({ name: "one" });
    await child({ name: "two", parent: one?.session_id });
    await home.json("end", "two", "--when", "now", "--grace", "0");
    // Two starts away from the operator are allowed, also below the newest child; three are not.
    const deeper = await child({ name: "deeper", parent: (await home.session("two")).session_id });
    expect(deeper).toMatchObject({ code: "too-deep" });
    await child({ name: "three" });
    const again = await askWithPass<Problem>(home, pass, "/v1/sessions/two/restart", {});
    expect(again).toMatchObject({ code: "too-many-descendants" });
    expect(await home.session("two")).toMatchObject({ state: "stopped" });
    await home.json("end", "three", "--when", "now", "--grace", "0");
    expect(await askWithPass<{ done: boolean }>(home, pass, "/v1/sessions/two/restart", {})).toMatchObject({
      done: true,
    });
    // The bounds are the session's, not the operator's.
    expect((await home.run(["restart", "three"])).status).toBe(0);
  }));

test.concurrent("the pass itself is written nowhere", () =>
  inHome("", async (home) => {
    const a = await home.json<SessionRow>("start", "command", "--name", "a", "--", "sh", "-c", "env; sleep 600");
    const pass = await passOf(home, a);
    await eventually("its output is kept", async () => (await home.run(["data", "a"])).stdout.includes("REEVE_PASS"));
    await home.json("end", "a", "--when", "now", "--grace", "0");
    await home.run(["daemon", "stop"]);
    expect((await home.run(["data", "a"])).stdout).not.toContain(pass);
    for (const file of ["reeve.db", "daemon.log"])
      expect(readFileSync(join(home.dir, file)).includes(pass)).toBe(false);
    const directory = String((await home.session("a"))["outputs_dir"]);
    expect(readFileSync(join(directory, "state.json"), "utf8")).not.toContain(pass);
    expect(readFileSync(join(directory, "output.log"), "utf8")).not.toContain(pass);
  }));
