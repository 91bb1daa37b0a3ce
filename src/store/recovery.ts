/**
 * Opens the database whatever state it is in. A damaged one is set aside, never
 * deleted, and its rows are made again from every state.json and from what can
 * be read of the old file. If a database only cannot be reached, or belongs to
 * a newer version, it is left alone and the start is refused.
 *
 * When the whole file is checked before use (`quick_check`, 1.2 ms per MB):
 *   - what is in it is small enough not to be felt;
 *   - damage was seen when it was last open ("suspect");
 *   - its -wal is gone although it was not closed properly.
 * After any other unclean end a thread checks it in the background: a kill does
 * not damage SQLite, so the start need not wait for that.
 */
import { existsSync, lstatSync, renameSync } from "node:fs";
import { clearTheWay } from "../platform/own-file.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { bar } from "../session/barred.ts";
import type { Session } from "../session/session.ts";
import { makeCompactable } from "./compaction.ts";
import { markUntyped } from "./event-columns.ts";
import { markPruned } from "./event-log.ts";
import { migrate } from "./migrations.ts";
import type { Left } from "./open-marker.ts";
import type { StoreOptions } from "./options.ts";
import type { Salvage } from "./salvage.ts";
import { isCorruption, MalformedRow, Sqlite, storageError } from "./sqlite.ts";
import type { StateRecord } from "./state-file.ts";
import { identityOf } from "./state-scan.ts";
import { Tables } from "./tables.ts";

/** Checked in about 2 ms. */
const SMALL_BYTES = 2 * 1024 * 1024;

/**
 * How far a rebuilt log jumps ahead of the last number it knows of: events after
 * the last state.json may have been seen by somebody whose cursor points there.
 */
const SEQUENCE_GAP = 10_000;

export interface Opened {
  readonly tables: Tables;
  /** Where the damaged database went. */
  readonly quarantined: string | undefined;
  readonly lostWal: boolean;
  /** Nothing was in it: there was none, or it was emptied. */
  readonly isNew: boolean;
}

export function openDatabase(options: StoreOptions, left: Left, onFailure: (error: unknown) => void): Opened {
  const { databasePath, clock, log } = options;
  const lostWal = left !== "closed" && existsSync(databasePath) && !existsSync(`${databasePath}-wal`);
  const load = (): Tables => openTables(options, left === "suspect" || lostWal, onFailure);
  try {
    return opened(load(), undefined, lostWal);
  } catch (error) {
    if (!isCorruption(error)) throw storageError(error);
    log("the database is damaged; it is set aside and rebuilt", { databasePath, why: messageOf(error) });
  }
  const quarantined = quarantineDatabase(databasePath, clock.now());
  try {
    return opened(load(), quarantined, lostWal);
  } catch (error) {
    throw storageError(error);
  }
}

/** A database that was ever used has an instance id. */
function opened(tables: Tables, quarantined: string | undefined, lostWal: boolean): Opened {
  const isNew = tables.db.get("SELECT 1 FROM meta WHERE key = 'instance'") === undefined;
  return { tables, quarantined, lostWal, isNew };
}

export interface Found {
  readonly tables: Tables;
  readonly files: readonly StateRecord[];
  readonly saved: Salvage;
  /** Numbers may have been given out that nothing left here tells of. */
  readonly eventsLost: boolean;
  readonly now: number;
}

/**
 * In one transaction: what was salvaged of the old database, then what files
 * tell beyond that, barred. A file cannot give a salvaged session another launch.
 * Returns the ids taken.
 */
export function restoreRows(found: Found): readonly string[] {
  const { tables, files, saved, eventsLost, now } = found;
  const { db, registry, records, log } = tables;
  const salvaged = new Map(saved.sessions.map((session) => [session.id, session]));
  const ofFiles = files
    .map(({ session }) => bar(session, now))
    .filter((session) => isNewerThan(salvaged.get(session.id), session));
  const byCreation = [...saved.sessions, ...ofFiles].toSorted(
    (one, other) => one.identity.createdAt - other.identity.createdAt,
  );
  return db.transaction(() => {
    const taken = new Set<string>();
    for (const session of byCreation) if (registry.restore(session)) taken.add(session.id);
    for (const row of saved.events)
      db.run(
        "INSERT OR IGNORE INTO events (seq, at, session_id, caller, via, body) VALUES (?, ?, ?, ?, ?, ?)",
        row.seq,
        row.at,
        row.session_id,
        row.caller ?? null,
        row.via ?? null,
        row.body,
      );
    const newest = saved.events.at(-1);
    if (newest !== undefined) markUntyped(db, newest.seq);
    // What was removed before, or is lost, must not be looked for: whoever has an older cursor is told.
    const gone = Math.max(saved.prunedThrough, (saved.events[0]?.seq ?? 1) - 1);
    if (gone > log.prunedThrough()) markPruned(db, gone);
    for (const row of saved.messages) {
      const sql = `INSERT OR IGNORE INTO messages (id, session_id, position, text, submit, how, caller, intended_turn, answers, state, admitted_at, settled_at, detail)
        SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?)`;
      db.run(
        sql,
        row.id,
        row.session_id,
        row.position,
        row.text,
        row.submit,
        row.how ?? "queue",
        row.caller ?? null,
        row.intended_turn ?? null,
        row.answers ?? null,
        row.state,
        row.admitted_at,
        row.settled_at,
        row.detail,
        row.session_id,
      );
    }
    for (const row of saved.records) records.restore(row);
    for (const row of saved.idempotency) {
      db.run(
        "INSERT OR IGNORE INTO idempotency (key, operation, fingerprint, subject, at) VALUES (?, ?, ?, ?, ?)",
        row.key,
        row.operation,
        row.fingerprint,
        row.subject,
        row.at,
      );
    }
    if (saved.instance !== undefined)
      db.run("INSERT OR IGNORE INTO meta (key, value) VALUES ('instance', ?)", saved.instance);
    const highest = files.reduce((seq, file) => Math.max(seq, file.seq), Math.max(saved.seq, log.head()));
    if (eventsLost || highest > log.head()) continueAfter(db, highest + SEQUENCE_GAP);
    return [...taken];
  });
}

function isNewerThan(salvaged: Session | undefined, session: Session): boolean {
  if (salvaged === undefined) return true;
  return session.revision > salvaged.revision && identityOf(session) === identityOf(salvaged);
}

function openTables(options: StoreOptions, mustCheck: boolean, onFailure: (error: unknown) => void): Tables {
  const { databasePath, clock } = options;
  for (const suffix of ["-wal", "-shm"]) clearTheWay(`${databasePath}${suffix}`);
  const found = lstatSync(databasePath, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new MalformedRow("it is not a regular file");
  const db = Sqlite.open(databasePath);
  try {
    if (mustCheck || usedBytes(db) <= SMALL_BYTES) db.check();
    migrate(db);
    makeCompactable(db, usedBytes(db), SMALL_BYTES);
    return new Tables(db, clock, onFailure);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Free pages are not read by a check. */
function usedBytes(db: Sqlite): number {
  const sql =
    "SELECT (page_count - freelist_count) * page_size AS used FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
  return db.get<{ used: number }>(sql)?.used ?? 0;
}

/** The database first: a -wal without its database is dropped by SQLite, a database without its -wal would be believed. */
function quarantineDatabase(path: string, timestamp: number): string {
  let target = `${path}.corrupt-${timestamp}`;
  for (let attempt = 1; isThere(target); attempt += 1) target = `${path}.corrupt-${timestamp}-${attempt}`;
  for (const suffix of ["", "-wal", "-shm"]) if (isThere(path + suffix)) renameSync(path + suffix, target + suffix);
  return target;
}

/** A dangling link is there as well. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function continueAfter(db: Sqlite, seq: number): void {
  const { changes } = db.run("UPDATE sqlite_sequence SET seq = MAX(seq, ?) WHERE name = 'events'", seq);
  if (changes === 0) db.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)", seq);
}
