/**
 * Keeps disk space for a few thousand more commits when the disk is full, so
 * that the agent that fills it can still be ended. It is not a file that is
 * deleted when needed, because the agent would fill that space at once. It is
 * inside the files that SQLite writes to, in blocks that are allocated already:
 *
 *   - the -wal is made long with zeros behind its last frame. SQLite writes
 *     over them, and starts again at the front after a checkpoint;
 *   - the database has free pages, left by rows that were written and deleted.
 *     New rows take these first, so a checkpoint does not make the file grow.
 *
 * SQLite deletes the -wal when it is closed properly. So it is moved to
 * `reeve.db-reserve` just before, when all of it is in the database, and back
 * before the next open. Its header is invalidated, so that SQLite never reads
 * its frames again.
 */
import { closeSync, constants, existsSync, fstatSync, renameSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { failpoint } from "../platform/failpoint.ts";
import { clearTheWay, openOwnFile } from "../platform/own-file.ts";
import { errnoOf } from "../platform/reeve-error.ts";
import type { Sqlite } from "./sqlite.ts";

/** Of the -wal and of the database, each. An end is five commits of 10 to 30 KB. */
export const RESERVE_BYTES = 2 * 1024 * 1024;
/** On a small disk the reserve is this part of what is free. */
const SHARE = 8;
/** One row of ballast at most: a commit that the daemon does not feel. */
const STEP_BYTES = 256 * 1024;
const WAL_HEADER_BYTES = 32;
const ZEROS = Buffer.alloc(64 * 1024);

export class Reserve {
  readonly #databasePath: string;

  readonly #bytes: number;

  constructor(databasePath: string, bytes: number | undefined) {
    this.#databasePath = databasePath;
    this.#bytes = bytes ?? RESERVE_BYTES;
  }

  /** Before the database is opened: the -wal of the last proper close, if there is none. */
  unpark(): void {
    clearTheWay(this.#wal);
    try {
      clearTheWay(this.#parked);
      if (existsSync(this.#wal)) return rmSync(this.#parked, { force: true });
      const file = openOwnFile(this.#parked, constants.O_WRONLY);
      try {
        writeSync(file, Buffer.alloc(WAL_HEADER_BYTES), 0, WAL_HEADER_BYTES, 0);
      } finally {
        closeSync(file);
      }
      failpoint("reserve.before-unpark");
      renameSync(this.#parked, this.#wal);
      failpoint("reserve.unparked");
    } catch (error) {
      // Only what could not be made void must not become a -wal.
      if (errnoOf(error) !== "ENOENT") rmSync(this.#parked, { force: true });
    }
  }

  /** Before the database is closed: keeps the blocks of its -wal. */
  park(db: Sqlite): void {
    try {
      if (!db.checkpoint("RESTART")) return;
      failpoint("reserve.before-park");
      renameSync(this.#wal, this.#parked);
      failpoint("reserve.parked");
    } catch {
      // The next open does without, or makes another.
    }
  }

  /** As much of it as the disk has room for. `pause` lets others work between two commits. */
  async fill(db: Sqlite, pause: () => Promise<void>): Promise<void> {
    const wanted = this.#wanted();
    if (wanted === 0) return;
    this.#lengthen(wanted);
    const { page_size: pageSize } = db.get<{ page_size: number }>("PRAGMA page_size") ?? { page_size: 4_096 };
    const free = (): number =>
      (db.get<{ freelist_count: number }>("PRAGMA freelist_count")?.freelist_count ?? 0) * pageSize;
    if (free() >= wanted / 2) return;
    try {
      const step = Math.min(STEP_BYTES, wanted);
      for (let bytes = free(), row = 1; bytes < wanted; bytes += step, row += 1) {
        const sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, hex(zeroblob(?)))";
        db.run(sql, `ballast-${row}`, Math.floor(step / 2));
        await pause();
      }
    } finally {
      db.run("DELETE FROM meta WHERE key LIKE 'ballast-%'");
    }
    // Deleted rows leave their pages as they are; this writes them into the database file.
    db.checkpoint("PASSIVE");
  }

  #wanted(): number {
    const { bavail, bsize } = statfsSync(dirname(this.#databasePath));
    return Math.min(this.#bytes, Math.floor((bavail * bsize) / SHARE));
  }

  /** Closing a descriptor of the -wal is harmless: SQLite's locks are on the other two files. */
  #lengthen(bytes: number): void {
    const file = openOwnFile(this.#wal, constants.O_WRONLY);
    try {
      const { size } = fstatSync(file);
      // In pieces: the memory for all of it would stay with the process.
      for (let at = size; at < bytes;) at += writeSync(file, ZEROS, 0, Math.min(ZEROS.length, bytes - at), at);
    } finally {
      closeSync(file);
    }
  }

  get #wal(): string {
    return `${this.#databasePath}-wal`;
  }

  get #parked(): string {
    return `${this.#databasePath}-reserve`;
  }
}
