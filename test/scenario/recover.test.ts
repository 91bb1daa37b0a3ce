/**
 * `reeve recover` through the CLI: what it is asked about may be
 * gone, ended, or in no repository; who may read what; and whom Reeve tells
 * that it was restarted.
 */
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { idle, keepBusy, type Orchestrator, startOrchestrator } from "../support/orchestrator.ts";
import { insideOf } from "../support/session-caller.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
  home.configure("[role.quiet]\nrecovery_wakes = false\n");
});
afterAll(() => home.dispose());

async function recoverText(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await home.run(["recover", ...args]);
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

async function start(name: string, ...options: readonly string[]): Promise<string> {
  const { session_id: id } = await home.json<{ session_id: string }>(
    "start",
    "practice",
    "--name",
    name,
    "--cwd",
    home.dir,
    ...options,
  );
  await idle(home, name);
  return id;
}

async function kill(id: string): Promise<void> {
  for (const { pid } of home.marked(id)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended with the one before.
    }
  }
  await eventually("its end is proven", async () => (await home.session(id)).liveness !== "running");
}

/** A turn of its own, from its message to its end. */
async function hello(name: string): Promise<void> {
  const { cursor } = await home.json<{ cursor: number }>("send", name, "Say hello");
  await home.json("wait", name, "--since", String(cursor), "--for", "turn-completed");
}

async function told(id: string): Promise<readonly EventRow[]> {
  return (await home.events()).filter(
    ({ type, session_id, data }) => type === "wake-sent" && session_id === id && data["is_recovery"] === true,
  );
}

describe("bad input", () => {
  test("a session that does not exist, and none at all", async () => {
    const unknown = await home.run(["recover", "nobody", "--json"]);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "unknown-session" } });
    const none = await home.run(["recover", "--json"]);
    expect(JSON.parse(none.stdout)).toMatchObject({ error: { code: "no-session-named" } });
    expect(none.status).toBe(2);
  });

  test("one that has ended, and one whose directory is in no repository or gone", async () => {
    const cwd = realpathSync(mkdtempSync(join(home.dir, "plain-")));
    await home.json("start", "command", "--name", "plain", "--cwd", cwd, "--", "sleep", "3600");
    const living = await recoverText("plain");
    expect(living).toMatch(/^Checkout: its directory is in no git repository\./m);
    expect(living).toMatch(/^Last turn: it has had none\./m);
    rmSync(cwd, { recursive: true });
    expect(await recoverText("plain")).toMatch(/^Checkout: .*could not be found out: .* is not there any more\./m);
    mkdirSync(cwd);
    await home.json("end", "plain", "--when", "now", "--grace", "0");
    const ended = await recoverText("plain");
    expect(ended).toMatch(/^What Reeve did: it is stopped: /m);
    expect(ended).toMatch(/^Next safe step: It has ended\. To go on with it: reeve restart plain$/m);
  });
});

describe("who is told that it was restarted", () => {
  test("one that was in a turn, once; its own report says so", async () => {
    const id = await start("busy", "--restart", "on-failure");
    await keepBusy(home, "busy");
    await kill(id);
    await eventually("it is told", async () => (await told(id)).length > 0, 30_000);
    await idle(home, "busy");
    await home.killDaemon();
    await idle(home, "busy");
    const { stdout } = await home.run(["recover"], { environment: await insideOf(home, { session_id: id }) });
    expect(stdout).toContain("Last turn: turn 1 was cut short: its process ended in the middle of it.");
    expect(stdout).toContain("- Turn 2 began after the restart.");
    expect(await told(id)).toHaveLength(1);
  });

  test("not one that rested, nor one in a role that wants none, nor one that somebody restarted", async () => {
    const rested = await start("rested", "--restart", "on-failure");
    await kill(rested);
    const quiet = await start("quiet-one", "--role", "quiet", "--restart", "on-failure");
    await keepBusy(home, "quiet-one");
    await kill(quiet);
    const asked = await start("asked");
    await keepBusy(home, "asked");
    await kill(asked);
    await home.json("restart", "asked");
    for (const name of ["rested", "quiet-one", "asked"]) {
      await eventually("it was started again", async () => (await home.session(name))["restarts"] === 1, 60_000);
      await idle(home, name);
      // Whatever Reeve had to say came before this.
      await hello(name);
      await idle(home, name);
    }
    expect([...(await told(rested)), ...(await told(quiet)), ...(await told(asked))]).toEqual([]);
  });
});

describe("between sessions", () => {
  let boss: Orchestrator;
  beforeAll(async () => void (boss = await startOrchestrator(home)));

  test("an orchestrator sees how much mail its worker has, and not what it says", async () => {
    await boss.startWorker("worker");
    await idle(home, "worker");
    await home.json("mail", "send", "worker", "Only for you.", "--subject", "A secret plan");
    const seen = await boss.run(["recover", "worker"]);
    expect(seen.stdout).toMatch(/^Unread mail: 1 mail, 0 hand-offs\./m);
    expect(seen.stdout).not.toContain("secret plan");
    expect(await recoverText("worker")).toContain('"A secret plan"; it begins "Only for you."');
    const other = await boss.run(["recover", "busy", "--json"]);
    expect(JSON.parse(other.stdout)).toMatchObject({ error: { code: "not-allowed" } });
  });

  test("a copy of the database that was put back tells nothing again", async () => {
    await idle(home, "boss");
    await home.json("daemon", "stop");
    const [database, copy] = [join(home.dir, "reeve.db"), join(home.dir, "copy.db")];
    copyFileSync(database, copy);
    const { session_id: id } = await home.session("worker");
    await kill(id);
    await eventually("it is woken for the death", async () => (await boss.lines()).at(-1)?.includes("worker exited"));
    await idle(home, "boss");
    const before = await boss.lines();
    await home.json("daemon", "stop");
    for (const suffix of ["-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
    copyFileSync(copy, database);

    const events = await home.events();
    const putBack = events.find(({ type }) => type === "store-put-back");
    expect(putBack?.data["sessions"]).toBeGreaterThan(0);
    // Its record knows of the death, and of having told it.
    expect(await home.session("worker")).toMatchObject({ liveness: "exited" });
    // The daemon has looked at everything: what it wanted to type would wait by now.
    await home.json("restart", "boss");
    await idle(home, "boss");
    await hello("boss");
    await idle(home, "boss");
    expect((await boss.lines()).filter((line) => line.includes("worker exited"))).toHaveLength(
      before.filter((line) => line.includes("worker exited")).length,
    );
  });
});
