/**
 * Lets one process at a time in, by a lock of the kernel. The kernel releases
 * it when its holder ends, however that happens, so it is never stale. Node has
 * no flock(2), but SQLite locks files through fcntl(2), and an open exclusive
 * transaction on an empty database is exactly such a lock.
 */
import { chmodSync, closeSync, constants, lstatSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { clearTheWay, setAside } from "./own-file.ts";
import { errnoOf } from "./reeve-error.ts";

/** Referenced from here: a database that nobody holds is closed by the garbage collector, and its lock with it. */
const held = new Set<DatabaseSync>();

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export interface ProcessLock {
  release(): void;
}

/** The lock, or null when another living process holds it. */
export function acquireProcessLock(path: string): ProcessLock | null {
  prepare(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : null;
    if (code === SQLITE_BUSY) return null;
    if (code !== SQLITE_NOTADB && code !== SQLITE_CORRUPT) throw error;
    // The lock was free, or it would be busy: somebody wrote into the file.
    setAside(path);
    return acquireProcessLock(path);
  }
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}

/**
 * A private file, whatever the caller's umask is. One that exists is not
 * opened: closing it would end a lock that this very process holds on it.
 */
function prepare(path: string): void {
  clearTheWay(path);
  const about = lstatSync(path, { throwIfNoEntry: false });
  if (about !== undefined) {
    if ((about.mode & 0o777) !== 0o600) chmodSync(path, 0o600);
    return;
  }
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}
