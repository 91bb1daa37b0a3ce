/**
 * A home that the
 * version before left behind is opened with everything in it.
 *
 * earlier-home.jsonl is what the build of version 0.1 (schema 2) wrote, when its
 * daemon was stopped while sessions lived: a practice agent that was paused, one
 * that asked two things, a command that failed and one that was ended. A line is
 * one row of the database or one state.json; `<home>` is where it was.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../platform/clock.ts";
import type { EventBody } from "../session/event.ts";
import { putSession } from "./change.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { isSession } from "../session/session-record.ts";
import { Sqlite } from "./sqlite.ts";
import { flat, type FlatSession, makeHome, nextRevision, type TestHome } from "./store-fixture.ts";

type Row = Readonly<Record<string, string | number | null>>;
type Line = { readonly table: string; readonly row: Row } | { readonly state: { readonly session: FlatSession } };

let home: TestHome;
let lines: readonly Line[];
/** Keys count for a day. */
let clock: Clock;
beforeEach(() => {
  home = makeHome();
  const text = readFileSync(join(import.meta.dirname, "earlier-home.jsonl"), "utf8");
  lines = text
    .replaceAll("<home>", home.directory)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const newest = Math.max(...rowsOf("events").map(({ at }) => Number(at)));
  clock = { ...systemClock, now: () => newest + 1_000 };
});
afterEach(() => home.remove());

function rowsOf(table: string): readonly Row[] {
  return lines.flatMap((line) => ("table" in line && line.table === table ? [line.row] : []));
}

const bodiesOf = <Body>(table: string): readonly Body[] =>
  rowsOf(table).map(({ body }) => JSON.parse(String(body)) as Body);

function writeDatabase(): void {
  const db = Sqlite.open(home.databasePath);
  migrate(db, MIGRATIONS.slice(0, 2));
  for (const line of lines) {
    if (!("table" in line)) continue;
    const columns = Object.keys(line.row);
    const sql = `INSERT INTO ${line.table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    db.run(sql, ...Object.values(line.row));
  }
  db.close();
}

/** With a checksum of its own, because its directory is another. */
function writeStates(): void {
  for (const line of lines) {
    if (!("state" in line)) continue;
    const head = JSON.stringify(line.state).slice(0, -1);
    const checksum = createHash("sha256").update(head).digest("hex");
    mkdirSync(line.state.session.outputsDir, { recursive: true });
    writeFileSync(join(line.state.session.outputsDir, "state.json"), `${head},"checksum":"${checksum}"}\n`);
  }
}

test("its database and its state.json files are opened, and nothing is missing or set aside", async () => {
  writeDatabase();
  writeStates();
  const store = await home.open({ clock });
  await store.verified;
  await store.typed;
  const before = bodiesOf<FlatSession>("sessions");
  expect(before.map(({ state }) => state)).toEqual(["paused", "error", "stopped", "running"]);
  expect(store.registry.all().map(flat)).toMatchObject(before);
  expect(store.registry.all().every(isSession)).toBe(true);
  for (const row of rowsOf("messages"))
    expect(store.mailbox.get(String(row["id"]))).toMatchObject({
      sessionId: row["session_id"],
      position: row["position"],
      text: JSON.parse(String(row["text"])) as unknown,
      state: row["state"],
    });
  const events = await store.log.read({ after: 0, limit: 1_000 });
  expect(events.map(({ seq, sessionId, body }) => ({ seq, sessionId, body }))).toEqual(
    rowsOf("events").map((row) => ({
      seq: row["seq"],
      sessionId: row["session_id"],
      body: JSON.parse(String(row["body"])) as unknown,
    })),
  );
  for (const row of rowsOf("idempotency")) expect(store.idempotency(String(row["key"]))).toEqual(row);
  expect(store.instance).toBe(rowsOf("meta")[0]?.["value"]);
  expect([store.repairs, store.warnings(), home.logged]).toEqual([[], [], []]);
  for (const { outputsDir } of before) expect(readdirSync(outputsDir)).toEqual(["state.json"]);
});

test("its events are found by type, each of them", async () => {
  writeDatabase();
  const store = await home.open({ clock });
  const told = bodiesOf<EventBody>("events");
  const count = async (type: EventBody["type"]) =>
    (await store.log.read({ after: 0, limit: 99, types: [type] })).length;
  for (const type of new Set(told.map((body) => body.type))) {
    const wanted = told.filter((body) => body.type === type).length;
    expect([type, await count(type)]).toEqual([type, wanted]);
    await store.typed;
    expect([type, await count(type)]).toEqual([type, wanted]);
  }
});

test("it goes on: each session takes its next revision, and is as it was after a reopening", async () => {
  writeDatabase();
  writeStates();
  const store = await home.open({ clock });
  const next = store.registry.all().map((session) => nextRevision(session));
  await store.commit({ changes: next.map(putSession) });
  await store.close();
  const again = await home.open({ clock });
  await again.verified;
  expect([again.registry.all(), again.repairs]).toEqual([next, []]);
});

test("its state.json files are enough where its database was lost", async () => {
  writeStates();
  const store = await home.open({ clock });
  const ids = store.registry.all().map(({ id }) => id);
  expect(ids.toSorted()).toEqual(
    bodiesOf<FlatSession>("sessions")
      .map(({ id }) => id)
      .toSorted(),
  );
  expect(store.registry.all().every(isSession)).toBe(true);
});
