/**
 * The file of the index, search.db: opened, and made anew where it is missing,
 * damaged, of another version or not a file at all. All that it holds can be read
 * again from transcripts, events and mail, so nothing of it is worth saving.
 *
 * Tables:
 *
 *   meta     epoch (another one: it was made anew), instance, event-cursor, pruned-through
 *   followed a file that is read line by line, and up to where
 *   entry    what can be found. `source` is the file it came from, 0 for events, -1 for mail; with `digest`
 *            (a hash of the message, the number of the event, a hash of the mail's id) each is there once
 *   words    the words of `entry`, by FTS5; the column `about` holds a word for each thing that is filtered by
 *   turn, usage, model_call   the numbers of `reeve stats`
 */
import { randomUUID } from "node:crypto";
import { closeSync, constants, lstatSync, rmSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { failpoint } from "../platform/failpoint.ts";
import { clearTheWay, openOwnFile } from "../platform/own-file.ts";
import { messageOf } from "../platform/reeve-error.ts";

const VERSION = 1;

const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE followed (
    id INTEGER PRIMARY KEY, session TEXT NOT NULL, path TEXT NOT NULL, cursor TEXT, total TEXT,
    is_done INTEGER NOT NULL DEFAULT 0, UNIQUE (session, path));
  CREATE TABLE entry (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, digest INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT,
    peer TEXT, agent TEXT, role TEXT, at INTEGER NOT NULL, who TEXT NOT NULL, ref TEXT, text TEXT NOT NULL);
  CREATE UNIQUE INDEX entry_once ON entry (source, digest);
  CREATE INDEX entry_of_mail ON entry (ref) WHERE source = -1;
  CREATE VIRTUAL TABLE words USING fts5 (text, about, content='', contentless_delete=1, tokenize='ascii');
  CREATE TABLE turn (
    session TEXT NOT NULL, number INTEGER NOT NULL, agent TEXT NOT NULL, role TEXT NOT NULL, started_at INTEGER,
    ended_at INTEGER, outcome TEXT, failure TEXT, PRIMARY KEY (session, number)) WITHOUT ROWID;
  CREATE TABLE usage (
    source INTEGER NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, role TEXT NOT NULL, at INTEGER NOT NULL,
    input INTEGER NOT NULL, cached INTEGER NOT NULL, output INTEGER NOT NULL, cost REAL);
  CREATE INDEX usage_source ON usage (source);
  CREATE TABLE model_call (
    source INTEGER NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, role TEXT NOT NULL, at INTEGER NOT NULL,
    latency_ms REAL, is_error INTEGER NOT NULL);
  CREATE INDEX model_call_source ON model_call (source);
  PRAGMA user_version = ${VERSION};
`;

export interface IndexFile {
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number; readonly lastId: number };
  transaction<Result>(work: () => Result): Result;
  /** Whether what was opened is still what lies there. */
  isThere(): boolean;
  close(): void;
  readonly isNew: boolean;
  /** Why the one before could not be used; null: there was none. */
  readonly damage: string | null;
}

export function openIndexFile(path: string): IndexFile {
  clearTheWay(path);
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!isThere) return create(path, null);
  try {
    return open(path, { isNew: false, damage: null });
  } catch (error) {
    return create(path, messageOf(error));
  }
}

/** An empty one instead of what is there. */
export function create(path: string, damage: string | null): IndexFile {
  for (const file of filesOf(path)) clearTheWay(file);
  for (const file of filesOf(path)) rmSync(file, { force: true });
  return open(path, { isNew: true, damage });
}

export function filesOf(path: string): readonly string[] {
  return [path, `${path}-wal`, `${path}-shm`, `${path}-journal`];
}

function open(path: string, about: Pick<IndexFile, "isNew" | "damage">): IndexFile {
  for (const file of filesOf(path)) clearTheWay(file);
  closeSync(openOwnFile(path, constants.O_RDWR | constants.O_CREAT));
  const db = new DatabaseSync(path);
  try {
    // A commit that power takes away again is made anew: its cursor goes with it.
    db.exec(
      "PRAGMA busy_timeout=2000; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; " +
        "PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=8388608; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192",
    );
    if (about.isNew) {
      db.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
      db.prepare("INSERT INTO meta (key, value) VALUES ('epoch', ?)").run(randomUUID());
      db.exec("COMMIT");
    } else requireSound(db);
    return wrap(path, db, about);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The beginning of each table; the rest shows when it is read. */
function requireSound(db: DatabaseSync): void {
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"];
  if (version !== VERSION) throw new Error(`it is of version ${String(version)}, not ${VERSION}`);
  for (const table of ["meta", "followed", "entry", "words", "turn", "usage", "model_call"])
    db.prepare(
      `SELECT rowid FROM ${table === "meta" || table === "turn" ? `(SELECT 1 AS rowid FROM ${table})` : table} LIMIT 1`,
    ).get();
  if (db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get() === undefined) throw new Error("it is not whole");
}

function wrap(path: string, db: DatabaseSync, about: Pick<IndexFile, "isNew" | "damage">): IndexFile {
  const statements = new Map<string, StatementSync>();
  const inode = lstatSync(path).ino;
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    ...about,
    all: <Row>(sql: string, ...values: SQLInputValue[]) => prepare(sql).all(...values) as Row[],
    get: <Row>(sql: string, ...values: SQLInputValue[]) => prepare(sql).get(...values) as Row | undefined,
    run(sql, ...values) {
      const { changes, lastInsertRowid } = prepare(sql).run(...values);
      return { changes: Number(changes), lastId: Number(lastInsertRowid) };
    },
    transaction(work) {
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        failpoint("search.before-commit");
        db.exec("COMMIT");
        failpoint("search.after-commit");
        return result;
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    },
    isThere: () => lstatSync(path, { throwIfNoEntry: false })?.ino === inode,
    close() {
      statements.clear();
      db.close();
    },
  };
}

const SQLITE_READONLY = 8;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
/** FTS5 says so of its own tables. */
const SQLITE_CORRUPT_VTAB = 267;
const SQLITE_IOERR_SHORT_READ = 522;

/** It must be made anew; a full disk is not that. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  const code = error.errcode;
  if (code === SQLITE_IOERR_SHORT_READ || code === SQLITE_CORRUPT_VTAB) return true;
  if ([SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY].includes(code & 0xff)) return true;
  // A table or a column is missing: somebody else wrote it.
  return (code & 0xff) === 1 && /no such (?:table|column)/.test(error.message);
}
