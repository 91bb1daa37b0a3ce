/**
 * Gives space that removed rows have left back to the disk, beside the daemon's
 * work: a few pages at a time, some 2 ms each. The reserve for a full disk is
 * free pages, too (reserve.ts), so twice as much as it wants is left alone.
 *
 * SQLite can only do this in a database that was made for it. A new one is, and
 * a small one of an earlier version is made so when it is opened. A large one
 * stays as it is: to rewrite it would keep everybody waiting. Its free pages are
 * used again, so it does not grow either.
 */
import { statSync } from "node:fs";
import { RESERVE_BYTES } from "./reserve.ts";
import type { Sqlite } from "./sqlite.ts";

const PAGES_AT_ONCE = 128;
const INCREMENTAL = 2;

/** A few milliseconds, once: nobody is served yet. */
export function makeCompactable(db: Sqlite, usedBytes: number, smallBytes: number): void {
  if (isCompactable(db) || usedBytes > smallBytes) return;
  try {
    db.exec("VACUUM");
  } catch {
    // No room for a second copy: another time.
  }
}

/** How many bytes were given back. `pause` lets others work between two steps. */
export async function compact(
  db: Sqlite,
  { reserveBytes = RESERVE_BYTES, pause }: { readonly reserveBytes?: number | undefined; pause(): Promise<boolean> },
): Promise<number> {
  if (!isCompactable(db)) return 0;
  const { page_size: pageSize } = db.get<{ page_size: number }>("PRAGMA page_size") ?? { page_size: 4_096 };
  const free = (): number => db.get<{ freelist_count: number }>("PRAGMA freelist_count")?.freelist_count ?? 0;
  const left = Math.ceil((2 * reserveBytes) / pageSize) + PAGES_AT_ONCE;
  let pages = 0;
  for (let before = free(); before > left;) {
    db.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
    const now = free();
    if (now >= before) break;
    pages += before - now;
    before = now;
    if (!(await pause())) break;
  }
  if (pages > 0) db.checkpoint("PASSIVE");
  return pages * pageSize;
}

export function bytesOf(databasePath: string): number {
  return ["", "-wal"].reduce(
    (sum, suffix) => sum + (statSync(`${databasePath}${suffix}`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function isCompactable(db: Sqlite): boolean {
  return db.get<{ auto_vacuum: number }>("PRAGMA auto_vacuum")?.auto_vacuum === INCREMENTAL;
}
