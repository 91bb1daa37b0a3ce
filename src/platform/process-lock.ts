/**
 * One process at a time, by a lock that the kernel holds: it is gone the
 * moment its holder is, however that ended, so it can never be stale. Node
 * has no flock(2), but SQLite locks files through fcntl(2), and an open
 * exclusive transaction on an empty database is exactly such a lock.
 */
import { DatabaseSync } from "node:sqlite";

/** Referenced from here: a database that nobody holds is closed by the garbage collector, and its lock with it. */
const held = new Set<DatabaseSync>();

export interface ProcessLock {
  release(): void;
}

/** The lock, or null when another living process holds it. */
export function acquireProcessLock(path: string): ProcessLock | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && (error.errcode === 5 || error.errcode === 261)) return null; // SQLITE_BUSY
    throw error;
  }
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}
