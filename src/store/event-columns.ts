/**
 * Fills the column `type` of events that schema 2 or an earlier one wrote, from
 * their bodies. A long log takes a while, so this happens beside the daemon's
 * work: a batch is one short transaction, the newest events come first, and a
 * daemon that ends in between goes on from there when it is next started. Until
 * all are filled, a query by type reads the bodies (event-rows.ts).
 *
 * `meta.untyped-to` is the number up to which events have no type yet; absent
 * when all have.
 */
import type { Sqlite } from "./sqlite.ts";

/** Some 10 ms of the daemon's time, and a few hundred kilobytes of -wal. */
const BATCH = 500;

/** Empty where the body has none: a damaged row shows when it is read. */
export const TYPE_OF_BODY = "CASE WHEN json_valid(body) THEN COALESCE(json_extract(body, '$.type'), '') ELSE '' END";

export function areTyped(db: Sqlite): boolean {
  return untypedTo(db) === undefined;
}

/** Inside a transaction: rows were put in without their types. */
export function markUntyped(db: Sqlite, to: number): void {
  db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('untyped-to', ?)", String(to));
}

/** True when all have their types; false when it was stopped. `pause` lets others work between two batches. */
export async function fillTypes(db: Sqlite, pause: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  for (let to = untypedTo(db); to !== undefined; to = untypedTo(db)) {
    if (signal.aborted) return false;
    fillBatch(db, to);
    await pause();
  }
  return true;
}

function fillBatch(db: Sqlite, to: number): void {
  const from = to - BATCH;
  db.transaction(() => {
    db.run(`UPDATE events SET type = ${TYPE_OF_BODY} WHERE seq > ? AND seq <= ? AND type IS NULL`, from, to);
    // The numbers of a log that was rebuilt have gaps.
    const next = db.get<{ seq: number | null }>("SELECT MAX(seq) AS seq FROM events WHERE seq <= ?", from)?.seq ?? null;
    if (next === null) db.run("DELETE FROM meta WHERE key = 'untyped-to'");
    else markUntyped(db, next);
  }, "store.mid-fill");
}

function untypedTo(db: Sqlite): number | undefined {
  const row = db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'untyped-to'");
  return row === undefined ? undefined : Number(row.value);
}
