/** Agents and runtimes that the daemon does not know (any more), and a config.toml that is not right. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { askDaemon, askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";

/** It takes each line as a prompt and works on it for ever. */
const PROGRAM = `#!/bin/sh
printf 'ready>'
while read -r line; do printf 'working on %s...' "$line"; sleep 600; done
`;

/** A session of a declared agent in the middle of a turn, beside one of a plain command. */
async function twoSessions(home: TestHome): Promise<{ readonly aider: SessionRow; readonly table: string }> {
  const program = join(home.dir, "fake-aider");
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  const table = `[agent.aider]\ncommand = ["${program}"]\nready = '^ready>$'\nworking = '^(ready>)?working on'\n`;
  home.configure(table);
  await home.json("start", "aider", "--name", "aider", "--cwd", home.dir, "a task");
  await home.json("start", "command", "--name", "plain", "--cwd", home.dir, "--", "sleep", "600");
  const aider = await eventually("it works", async () => {
    const session = await askSession(home, "aider");
    return session?.["activity"] === "working" && session;
  });
  await eventually("the other runs", async () => (await askSession(home, "plain"))?.state === "running");
  return { aider, table };
}

const SAYS = "The agent aider is not in config.toml any more";

test.concurrent(
  "an agent taken out of config.toml: its session is listed with the reason, shown, and ended",
  { timeout: 90_000 },
  () =>
    inHome("", async (home) => {
      const { aider, table } = await twoSessions(home);
      await home.json("daemon", "stop");
      home.configure("");

      const seen = await eventually("it says that nobody can tell what it does", async () => {
        const session = await home.session("aider");
        return session["activity"] === "unknown" && session;
      });
      expect(seen).toMatchObject({ state: "running", liveness: "running", runtime: { pid: aider.runtime.pid } });
      expect(seen.reason).toContain(SAYS);
      expect((await home.run(["list"])).stdout).toContain(SAYS);
      expect(await home.json("explain", "aider")).toMatchObject({ activity: { claim: "unknown" } });
      expect(await home.json<{ text: string }>("data", "aider")).toMatchObject({
        source: "screen",
        text: expect.stringContaining("working on a task") as string,
      });
      for (const args of [
        ["send", "aider", "another"],
        ["restart", "aider"],
      ]) {
        const refused = await home.run([...args, "--json"]);
        expect(refused.status, args.join(" ")).toBe(1);
        expect(JSON.parse(refused.stdout)).toMatchObject({
          error: { code: "session-impeded", message: expect.stringContaining(SAYS) as string },
        });
      }
      expect((await home.session("aider")).runtime.pid).toBe(aider.runtime.pid);
      expect((await home.run(["start", "aider", "--cwd", home.dir])).status).toBe(2);

      // With it in config.toml again everything is as before.
      home.configure(table);
      await home.json("daemon", "stop");
      expect((await home.session("aider")).reason).not.toContain(SAYS);
      home.configure("");
      await home.json("daemon", "stop");

      // In the middle of its turn, of whose end nobody would tell.
      expect(await home.json("end", "aider")).toMatchObject({ done: true });
      expect(home.marked(aider.session_id)).toEqual([]);
      expect(await home.session("plain")).toMatchObject({ state: "running" });
    }),
);

test.concurrent("an end that was asked for before its agent vanished is carried out", { timeout: 90_000 }, () =>
  inHome("", async (home) => {
    const { aider } = await twoSessions(home);
    expect(await askDaemon(home, "/v1/sessions/aider/end", { timeout_seconds: 0 })).toMatchObject({ done: false });
    await home.killDaemon();
    home.configure("");
    await eventually("it is ended", async () => (await home.session("aider")).state === "stopped");
    expect(home.marked(aider.session_id)).toEqual([]);
  }),
);

test.concurrent("other sessions are watched and restarted beside one whose agent is gone", { timeout: 90_000 }, () =>
  inHome("", async (home) => {
    await twoSessions(home);
    await home.killDaemon();
    home.configure("");
    await home.json("start", "command", "--name", "later", "--restart", "on-failure", "--", "sh", "-c", "exit 3");
    await eventually("it was seen to fail, and is started again", async () => {
      const restarts = (await home.session("later"))["restarts"];
      return typeof restarts === "number" && restarts > 0;
    });
    expect(await home.json("restart", "plain")).toMatchObject({ done: true });
  }),
);

test.concurrent(
  "a config.toml that is not right keeps nobody from listing and ending; what it would concern is not started",
  { timeout: 90_000 },
  () =>
    inHome("", async (home) => {
      const { aider } = await twoSessions(home);
      await home.json("daemon", "stop");
      home.configure('[agent.aider]\ncommand = ["unfinished\n');

      const [first] = (await home.list()).filter((session) => session.name === "aider");
      expect(first?.reason).toMatch(
        /does not know the agent aider: .*config\.toml is not right: [^\n]*; fix or remove it/,
      );
      for (const agent of ["aider", "codex"]) {
        const refused = await home.run(["start", agent, "--cwd", home.dir, "--json"]);
        expect(refused.status, agent).toBe(78);
        expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "config-invalid" } });
      }
      expect(await home.json("start", "command", "--name", "still", "--", "sleep", "600")).toMatchObject({
        name: "still",
      });
      const { warnings } = await home.json<{ warnings: string[] }>("daemon", "status");
      expect(warnings.join(" ")).toContain("config.toml is not right");
      expect(await home.json("end", "aider")).toMatchObject({ done: true });
      expect(home.marked(aider.session_id)).toEqual([]);
    }),
);

test.concurrent(
  "a session in a runtime that is not known is unreachable, and in nobody's way",
  { timeout: 90_000 },
  () =>
    inHome("", async (home) => {
      const { session_id } = await home.json<SessionRow>("start", "command", "--name", "boxed", "--", "sleep", "600");
      await eventually("it runs", async () => (await askSession(home, "boxed"))?.state === "running");
      const moveTo = async (runtime: string): Promise<void> => {
        await home.json("daemon", "stop");
        const database = new DatabaseSync(join(home.dir, "reeve.db"));
        database
          .prepare("UPDATE sessions SET body = json_set(body, '$.identity.runtime', ?) WHERE id = ?")
          .run(runtime, session_id);
        database.close();
      };
      await moveTo("box");
      const seen = await eventually("it is unreachable", async () => {
        const session = await home.session("boxed");
        return session.liveness === "unreachable" && session;
      });
      expect(seen).toMatchObject({
        state: "running",
        reason: expect.stringContaining("does not know the runtime box") as string,
      });
      expect(await home.json("start", "command", "--name", "other", "--", "sleep", "600")).toMatchObject({
        name: "other",
      });
      const end = { when: "now", timeout_seconds: 0 };
      expect(await askDaemon(home, "/v1/sessions/boxed/end", end)).toMatchObject({ done: false });
      expect(home.marked(session_id)).not.toEqual([]);
      await moveTo("tmux");
      await eventually("it is ended", async () => (await home.session("boxed")).state === "stopped");
      expect(home.marked(session_id)).toEqual([]);
    }),
);
