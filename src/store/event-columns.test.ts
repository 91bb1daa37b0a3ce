/** Events of schema 2 get their type in a column, beside the daemon's work, and are read rightly meanwhile. */
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { areTyped, fillTypes } from "./event-columns.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import type { OpenStore } from "./open-store.ts";
import { Sqlite } from "./sqlite.ts";
import { makeHome, STARTED, type TestHome } from "./store-fixture.ts";

const EVENTS = 1_700;
const STOPPED = { type: "daemon-stopped", pid: 1 } as const;

let home: TestHome;
beforeEach(() => {
  home = makeHome();
  const db = Sqlite.open(home.databasePath);
  migrate(db, MIGRATIONS.slice(0, 2));
  db.transaction(() => {
    for (let seq = 1; seq <= EVENTS; seq += 1) {
      const body = JSON.stringify(seq % 100 === 0 ? STOPPED : STARTED);
      // As in a log that was once rebuilt: its numbers jump.
      db.run(
        "INSERT INTO events (seq, at, session_id, body) VALUES (?, 1, 'a', ?)",
        seq > 900 ? seq + 10_000 : seq,
        body,
      );
    }
    db.run("INSERT INTO meta (key, value) VALUES ('instance', 'abcd1234')");
  });
  db.close();
});
afterEach(() => home.remove());

const EVERY_HUNDREDTH = Array.from({ length: EVENTS / 100 }, (_, index) => (index + 1) * 100).map((seq) =>
  seq > 900 ? seq + 10_000 : seq,
);

async function byType({ log }: OpenStore): Promise<readonly unknown[]> {
  const events = await log.read({ after: 0, limit: 1_000, sessionIds: ["a"], types: ["daemon-stopped"] });
  const newest = await log.latest({ sessionId: "a", types: ["daemon-stopped"] });
  return [events.map(({ seq }) => seq), newest?.seq, events.every(({ caller }) => caller === null)];
}

const WANTED = [EVERY_HUNDREDTH, EVENTS + 10_000, true];

test("before all are filled and after, and new ones beside them", async () => {
  const early = await home.open({ verifyAfterMs: 60_000 });
  expect(await byType(early)).toEqual(WANTED);
  const [next] = await early.commit({ events: [{ sessionId: "a", body: STOPPED }] });
  const more = [[...EVERY_HUNDREDTH, next?.seq], next?.seq, true];
  expect(await byType(early)).toEqual(more);
  await early.close();
  const store = await home.open();
  await store.typed;
  expect(await byType(store)).toEqual(more);
  await store.close();
  const db = Sqlite.open(home.databasePath);
  expect(db.all("SELECT type, COUNT(*) AS count FROM events GROUP BY type")).toEqual([
    { type: "daemon-started", count: EVENTS - EVERY_HUNDREDTH.length },
    { type: "daemon-stopped", count: EVERY_HUNDREDTH.length + 1 },
  ]);
  expect(areTyped(db)).toBe(true);
  db.close();
});

test("a batch at a time, newest first, and a daemon that is stopped in between goes on later", async () => {
  const db = Sqlite.open(home.databasePath);
  migrate(db);
  const untyped = (): unknown => db.get("SELECT COUNT(*) AS left, MAX(seq) AS newest FROM events WHERE type IS NULL");
  const counts: unknown[] = [untyped()];
  const stopping = new AbortController();
  const pause = async (): Promise<void> => {
    counts.push(untyped());
    if (counts.length === 3) stopping.abort();
  };
  expect(await fillTypes(db, pause, stopping.signal)).toBe(false);
  expect(await fillTypes(db, pause, new AbortController().signal)).toBe(true);
  expect(counts).toEqual([
    { left: 1_700, newest: 11_700 },
    { left: 1_200, newest: 11_200 },
    // A batch is a stretch of numbers, and only 300 of this one are taken.
    { left: 900, newest: 900 },
    { left: 400, newest: 400 },
    { left: 0, newest: null },
  ]);
  db.close();
});

test("kill -9 in the middle of a batch leaves it undone, and the next daemon fills the rest", async () => {
  const armed = join(home.directory, "failpoint");
  const script = join(home.directory, "open.ts");
  const fixture = JSON.stringify(join(import.meta.dirname, "store-fixture.ts"));
  writeFileSync(script, `import { makeHome } from ${fixture}; await (await makeHome(process.argv[2]).open()).typed;`);
  writeFileSync(armed, "store.mid-fill");
  const child = spawnSync(process.execPath, [script, home.directory], {
    env: { ...process.env, REEVE_FAILPOINT_FILE: armed },
    encoding: "utf8",
  });
  expect([child.signal, child.stderr, existsSync(armed)]).toEqual(["SIGKILL", "", false]);
  const store = await home.open();
  expect(await byType(store)).toEqual(WANTED);
  await store.typed;
  expect([await byType(store), store.repairs]).toEqual([WANTED, []]);
});

test("a body that is damaged gets an empty type once, and shows when it is read", async () => {
  const db = Sqlite.open(home.databasePath);
  db.run("UPDATE events SET body = 'no json' WHERE seq = 7");
  db.run("UPDATE events SET body = '{}' WHERE seq = 8");
  db.close();
  const store = await home.open();
  expect(await byType(store)).toEqual(WANTED);
  await store.typed;
  expect(await byType(store)).toEqual(WANTED);
  await expect(store.log.read({ after: 6, limit: 1 })).rejects.toMatchObject({ code: "store-corrupt" });
});

test("so do events that were saved from a damaged database", async () => {
  const db = Sqlite.open(home.databasePath);
  db.run("INSERT INTO sessions (id, name, revision, body) VALUES ('b', 'b', 1, 'no json')");
  db.close();
  const store = await home.open();
  expect(store.repairs).toMatchObject([{ type: "store-rebuilt" }]);
  expect(await byType(store)).toEqual(WANTED);
  await store.typed;
  expect(await byType(store)).toEqual(WANTED);
});
