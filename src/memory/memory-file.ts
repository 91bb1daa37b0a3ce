/**
 * The file of the memories, memory.db. It is the only place where they are, so it
 * is written with fsync and never made anew over what was there: of one that is
 * damaged, every memory that can still be read (salvage.ts) is put into a new file,
 * memory.db.mended. Then the damaged one is renamed to memory.db.damaged-<n>, and the
 * new one takes its place. Whoever is killed between these two finds it there.
 *
 * Tables:
 *
 *   memory    one row each; `place` is the order in which they came, and is never used again
 *   words     the words of `memory` by FTS5, which ranks with bm25
 *   outgoing  what the vector store was not told yet: the id, and whether it is to be put or removed
 *   meta      vector-store: which one `outgoing` is for
 */
import { closeSync, constants, lstatSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { clearTheWay, openOwnFile } from "../platform/own-file.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import { indexed } from "../search/words.ts";
import { columnsOf } from "./memory-row.ts";
import type { Memory } from "./memory.ts";
import { salvagedMemories } from "./salvage.ts";

const VERSION = 1;

const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE memory (
    place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL, role TEXT,
    kind TEXT NOT NULL, text TEXT NOT NULL, tags TEXT NOT NULL, session TEXT, turn INTEGER, commit_id TEXT,
    author TEXT NOT NULL, at INTEGER NOT NULL);
  CREATE INDEX memory_of_project ON memory (project, place);
  CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, tokenize='ascii');
  CREATE TABLE outgoing (
    place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, action TEXT NOT NULL);
  PRAGMA user_version = ${VERSION};
`;

export interface MemoryFile {
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  /** The columns in the order in which they are asked for: Node makes no object with their names for each row. */
  columns<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number; readonly lastId: number };
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/** Throws what `isDamaged` tells where the file is damaged. */
export function openMemoryFile(path: string): MemoryFile {
  clearTheWay(path);
  const made = mendedPath(path);
  if (isThere(path)) removeDatabase(made);
  else if (isThere(made)) renameSync(made, path);
  return open(path);
}

export function isDamaged(error: unknown): error is ReeveError {
  return error instanceof ReeveError && error.code === DAMAGED;
}

/** Nobody has the file open. Says what became of it, for the operator. */
export function mendMemoryFile(path: string, damage: ReeveError): string {
  const made = mendedPath(path);
  removeDatabase(made);
  // Closed, it is whole in its file and can lend its first page.
  open(made).close();
  const memories = salvagedMemories(path, made);
  const file = open(made);
  let count: number;
  try {
    count = file.transaction(() => memories.filter(([place, memory]) => insertMemory(file, memory, place)).length);
  } finally {
    file.close();
  }
  const aside = asidePath(path);
  renameSync(path, aside);
  if (isThere(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
  rmSync(`${path}-shm`, { force: true });
  renameSync(made, path);
  return `memory.db was damaged (${String(damage.details["why"])}). ${count} memories could be read and were taken over; the damaged file is ${aside}. If others are missing, restore memory.db from a backup; else delete that file.`;
}

/** With its words. False: there is one with this id already, and it stays as it is. Without a place it is the last. */
export function insertMemory(file: MemoryFile, memory: Memory, place: number | null = null): boolean {
  const { changes, lastId } = file.run(
    `INSERT INTO memory (place, id, project, role, kind, text, tags, session, turn, commit_id, author, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    place,
    ...columnsOf(memory),
  );
  if (changes === 0) return false;
  file.run("INSERT INTO words (rowid, text) VALUES (?, ?)", lastId, indexed([memory.text, ...memory.tags].join(" ")));
  return true;
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const mendedPath = (path: string): string => `${path}.mended`;

function asidePath(path: string): string {
  let number = 1;
  while (isThere(`${path}.damaged-${number}`)) number += 1;
  return `${path}.damaged-${number}`;
}

function removeDatabase(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
}

function open(path: string): MemoryFile {
  return guarded(() => {
    closeSync(openOwnFile(path, constants.O_RDWR | constants.O_CREAT));
    const db = new DatabaseSync(path);
    try {
      return prepared(db);
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

function prepared(db: DatabaseSync): MemoryFile {
  db.exec(
    "PRAGMA busy_timeout=2000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; " +
      "PRAGMA journal_size_limit=8388608; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192",
  );
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"];
  if (version === 0) db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
  else if (version !== VERSION)
    throw new Error(`it was written by a newer version of Reeve (version ${String(version)}); update Reeve`);
  for (const table of ["memory", "words", "outgoing"]) db.prepare(`SELECT rowid FROM ${table} LIMIT 1`).get();
  return wrap(db);
}

function wrap(db: DatabaseSync): MemoryFile {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    all: <Row>(sql: string, ...values: SQLInputValue[]) => guarded(() => prepare(sql).all(...values) as Row[]),
    columns: <Row>(sql: string, ...values: SQLInputValue[]) =>
      guarded(() => {
        const statement = prepare(sql);
        statement.setReturnArrays(true);
        return statement.all(...values) as unknown as Row[];
      }),
    get: <Row>(sql: string, ...values: SQLInputValue[]) =>
      guarded(() => prepare(sql).get(...values) as Row | undefined),
    run(sql, ...values) {
      const { changes, lastInsertRowid } = guarded(() => prepare(sql).run(...values));
      return { changes: Number(changes), lastId: Number(lastInsertRowid) };
    },
    transaction(work) {
      guarded(() => db.exec("BEGIN IMMEDIATE"));
      try {
        const result = work();
        guarded(() => db.exec("COMMIT"));
        return result;
      } catch (error) {
        if (db.isTransaction) guarded(() => db.exec("ROLLBACK"));
        throw error;
      }
    },
    close() {
      statements.clear();
      db.close();
    },
  };
}

const DAMAGED = "memory-damaged";

/** What SQLite says, as a sentence for whoever asked. */
function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const why = messageOf(error);
    if (isDamage(error))
      throw new ReeveError({
        code: DAMAGED,
        kind: "unavailable",
        message: `memory.db is damaged (${why}) and could not be repaired; free some disk space and try again.`,
        details: { why },
      });
    throw new ReeveError({
      code: "memory-unavailable",
      kind: "unavailable",
      message: `The memories cannot be used (${why}); free some disk space or fix the permissions of memory.db, and try again.`,
    });
  }
}

const ERROR = 1;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** What FTS5 says of tables of its own that it does not recognize has no code of its own. */
const DAMAGE_WORDS = /no such table|vtable constructor failed|fts5|malformed/;

function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  const code = error.errcode & 0xff;
  return [CORRUPT, NOT_A_DATABASE].includes(code) || (code === ERROR && DAMAGE_WORDS.test(error.message));
}
