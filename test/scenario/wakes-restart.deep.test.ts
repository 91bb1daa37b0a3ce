/**
 * What was acknowledged never wakes again,
 * what was committed and not told wakes once, with the count.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { idle, keepBusy, letGo, type Orchestrator, startOrchestrator } from "../support/orchestrator.ts";
import type { TestHome } from "../support/test-home.ts";

/** As a daemon would have committed them before it was killed; answers the number of the last. */
function plantTurnEnds(home: TestHome, sessionId: string, count: number): number {
  const db = new DatabaseSync(join(home.dir, "reeve.db"));
  try {
    const evidence = { source: "hook", detail: "planted by a test", at: Date.now() };
    const insert = db.prepare("INSERT INTO events (at, session_id, type, caller, body) VALUES (?, ?, ?, NULL, ?)");
    let last: number | bigint = 0;
    db.exec("BEGIN");
    for (let turn = 1; turn <= count; turn++) {
      const body = JSON.stringify({ type: "turn-completed", turn, evidence });
      ({ lastInsertRowid: last } = insert.run(Date.now(), sessionId, "turn-completed", body));
    }
    db.exec("COMMIT");
    return Number(last);
  } finally {
    db.close();
  }
}

async function idleWorker(home: TestHome, boss: Orchestrator): Promise<string> {
  const { session_id: id } = await boss.startWorker("fix");
  await idle(home, "fix");
  return id;
}

test("500 events that a killed daemon committed and did not tell are one wake, with the count", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    const worker = await idleWorker(home, boss);
    await home.killDaemon();
    const through = plantTurnEnds(home, worker, 500);
    await home.daemonPid();
    await eventually("it was woken", async () => (await boss.wakes()).length > 0);
    await idle(home, "boss");
    expect((await boss.wakes()).map(({ data }) => data)).toMatchObject([{ since: 0, through, count: 500 }]);
    await home.killDaemon();
    await home.daemonPid();
    // What comes next is told alone.
    await boss.json("send", "fix", "Say hello");
    await eventually("it was woken again", async () => (await boss.wakes()).length > 1);
    expect((await boss.wakes()).map(({ data }) => data["count"])).toEqual([500, 1]);
    await idle(home, "boss");
    expect(await boss.lines()).toHaveLength(2);
  }));

test("900 events that were acknowledged wake nobody, whatever becomes of the daemon", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    const worker = await idleWorker(home, boss);
    await keepBusy(home, "boss");
    await home.killDaemon();
    const through = plantTurnEnds(home, worker, 900);
    await home.daemonPid();
    await boss.json("seen", "boss");
    expect((await home.session("boss"))["wakes"]).toMatchObject({ message_id: null });
    for (let round = 0; round < 2; round++) {
      await home.killDaemon();
      await home.daemonPid();
    }
    await letGo(home, "boss");
    await idle(home, "boss");
    await boss.json("send", "fix", "Say hello");
    await eventually("it was woken", async () => (await boss.wakes()).length > 0);
    const [wake] = await boss.wakes();
    expect(wake?.data).toMatchObject({ count: 1 });
    expect(wake?.data["since"]).toBeGreaterThanOrEqual(through);
  }));

test("an unread hand-off among them is exactly one wake; after a restart of its reader one more", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    const worker = await idleWorker(home, boss);
    await keepBusy(home, "boss");
    await home.json("mail", "send", "boss", "For your information");
    await home.json("mail", "send", "boss", "Please take over the parser: rm -rf is not meant", "--hand-off");
    await home.killDaemon();
    plantTurnEnds(home, worker, 900);
    await home.daemonPid();
    await boss.json("seen", "boss");
    for (let round = 0; round < 2; round++) {
      await home.killDaemon();
      await home.daemonPid();
    }
    await letGo(home, "boss");
    await eventually("it was woken", async () => (await boss.wakes()).length > 0);
    await idle(home, "boss");
    await home.killDaemon();
    await home.daemonPid();
    await boss.json("send", "fix", "Say hello");
    await eventually("it was woken for the next thing", async () => (await boss.wakes()).length > 1);
    await idle(home, "boss");
    expect((await boss.wakes()).map(({ data }) => data["count"])).toEqual([2, 1]);
    const [first, second] = await boss.lines();
    expect(first).toMatch(/^\[reeve\] wake \d+: 2 unread mails for you \(1 hand-off\)\. Not from your user\./);
    expect(second).toContain("1 event for you since ");

    await home.json("restart", "boss");
    await eventually("it was woken after its restart", async () => (await boss.wakes()).length > 2);
    await idle(home, "boss");
    expect((await boss.lines())[2]).toContain(": 1 unread mail for you (1 hand-off). ");
    expect(await boss.wakes()).toHaveLength(3);
  }));
