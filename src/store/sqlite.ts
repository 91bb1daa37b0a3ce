/**
 * The SQLite driver: the store reaches `node:sqlite` only through this file. It
 * owns the connection, its settings and the meaning of SQLite's error numbers.
 * It must not know any table.
 *
 * `quick_check` reads the whole file (1.2 ms per MB measured), so it is not run
 * on every open. Damage shows in three other ways: SQLite refuses a page it
 * reads, a row it returns does not parse, or `check` finds it when the store
 * has cause to ask. See recovery.ts for when that is.
 */
import { closeSync, constants, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { failpoint } from "../platform/failpoint.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";

/** Nobody else writes here; a reader's lock is short. The wait blocks the daemon, so it stays well below its 5 s promise. */
const BUSY_TIMEOUT_MS = 2_000;

/** More than the reserve (reserve.ts) wants of it. */
const LONGEST_WAL_BYTES = 8 * 1024 * 1024;

export class Sqlite {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Makes the file, 0600 (its -wal and -shm inherit that), when it is missing. */
  static open(path: string): Sqlite {
    closeSync(
      openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600),
    );
    try {
      return new Sqlite(connect(path, "NORMAL"));
    } catch (error) {
      // Its -shm takes room of its own; held exclusively, SQLite keeps that in memory and nobody else can look inside.
      if (!isDiskFull(error)) throw error;
      return new Sqlite(connect(path, "EXCLUSIVE"));
    }
  }

  /** For looking into a file that must stay as it is. */
  static openReadOnly(path: string): Sqlite {
    return new Sqlite(new DatabaseSync(path, { readOnly: true }));
  }

  /** Parameters are plain `?`: Node 22 cannot bind numbered ones by position. */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  iterate<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#prepare(sql).iterate(...values) as Iterable<Row>;
  }

  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number; readonly lastId: number } {
    const { changes, lastInsertRowid } = this.#prepare(sql).run(...values);
    return { changes: Number(changes), lastId: Number(lastInsertRowid) };
  }

  exec(script: string): void {
    this.#db.exec(script);
  }

  /**
   * Durable when it returns; undone as a whole when `work` or the commit throws.
   * On a full disk it is tried again at the front of the -wal, so `work` may run twice.
   */
  transaction<Result>(work: () => Result, pointBeforeCommit?: string): Result {
    try {
      return this.#attempt(work, pointBeforeCommit);
    } catch (error) {
      if (!isDiskFull(error) || !this.#canStartOver()) throw error;
      return this.#attempt(work, pointBeforeCommit);
    }
  }

  #attempt<Result>(work: () => Result, pointBeforeCommit: string | undefined): Result {
    this.#prepare("BEGIN IMMEDIATE").run();
    try {
      const result = work();
      if (pointBeforeCommit !== undefined) failpoint(pointBeforeCommit);
      this.#prepare("COMMIT").run();
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  /** Inside a transaction: undoes only `work` when it throws. */
  savepoint<Result>(work: () => Result): Result {
    this.#prepare("SAVEPOINT change").run();
    try {
      const result = work();
      this.#prepare("RELEASE change").run();
      return result;
    } catch (error) {
      if (!isStorageFailure(error)) this.exec("ROLLBACK TO change; RELEASE change");
      throw error;
    }
  }

  /**
   * Writes what is in the -wal into the database; true when that was all of it.
   * After RESTART the next transaction begins at the front of the -wal.
   */
  checkpoint(how: "PASSIVE" | "RESTART"): boolean {
    const answer = this.#prepare(`PRAGMA wal_checkpoint(${how})`).get();
    return answer?.["busy"] === 0 && answer["log"] === answer["checkpointed"];
  }

  #canStartOver(): boolean {
    try {
      return this.checkpoint("RESTART");
    } catch {
      return false;
    }
  }

  /** Reads everything; throws what a damaged page would throw. */
  check(): void {
    const complaint = this.get<{ quick_check: string }>("PRAGMA quick_check(1)")?.quick_check;
    if (complaint !== "ok") throw new MalformedRow(complaint ?? "quick_check said nothing");
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #rollback(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // A full disk or a failed write has already rolled it back.
    }
  }
}

/** A row SQLite returned gladly and that cannot be what was written. Never leaves the store. */
export class MalformedRow extends Error {}

export function parseColumn<Value>(text: string, column: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    throw new MalformedRow(`${column}: ${messageOf(error)}`);
  }
}

function connect(path: string, lockingMode: "NORMAL" | "EXCLUSIVE"): DatabaseSync {
  const db = new DatabaseSync(path);
  try {
    db.exec(
      // Of a new file only; a -wal that one long change made longer is cut again.
      `PRAGMA busy_timeout=${BUSY_TIMEOUT_MS}; PRAGMA locking_mode=${lockingMode}; PRAGMA auto_vacuum=INCREMENTAL; ` +
        `PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=${LONGEST_WAL_BYTES}; ` +
        "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY",
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_NOTADB = 26;
/** The file ends in the middle of a page. */
const SQLITE_IOERR_SHORT_READ = 522;
const SQLITE_IOERR_SHMSIZE = 4_874;

/** The bytes are wrong. A disk that cannot be read or written right now is not that. */
export function isCorruption(error: unknown): boolean {
  if (error instanceof MalformedRow) return true;
  const code = sqliteCode(error);
  return (
    code !== undefined && (code === SQLITE_IOERR_SHORT_READ || [SQLITE_CORRUPT, SQLITE_NOTADB].includes(code & 0xff))
  );
}

/** No block or no inode is left for what SQLite wants to write; a -shm that cannot be made says only that it cannot be opened. */
function isDiskFull(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code === SQLITE_IOERR_SHMSIZE || [SQLITE_FULL, SQLITE_CANTOPEN].includes(code & 0xff));
}

/** SQLite could not do its work, whatever the change was; a broken constraint is the change's own fault. */
export function isStorageFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && ![SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH].includes(code & 0xff);
}

export function storageError(error: unknown): ReeveError {
  if (error instanceof ReeveError) return error;
  const why = messageOf(error);
  if (isCorruption(error)) {
    const message = `The database is damaged (${why}); restart the daemon, which sets it aside and rebuilds it.`;
    return new ReeveError({ code: "store-corrupt", kind: "unavailable", message });
  }
  const message = `The database cannot be written (${why}), so nothing was changed; free some disk space or fix its permissions, and try again.`;
  return new ReeveError({ code: "store-unwritable", kind: "unavailable", message });
}

/** A read outside any transaction: what goes wrong is reported, and thrown in the store's own words. */
export function guardRead<Result>(onFailure: (error: unknown) => void, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    onFailure(error);
    throw storageError(error);
  }
}

function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}
