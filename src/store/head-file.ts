/**
 * The last number of the event log, in a file beside the database: written when
 * it is opened and when it is closed. It is never ahead of its own database, so
 * a database whose log ends before it is an older copy that was put back
 * (put-back.ts).
 *
 * The file: the number in decimal and a newline. Anything else counts as none.
 */
import { writeFileAtomicSync } from "../platform/atomic-file.ts";
import { readOwnFile } from "../platform/own-file.ts";

const LARGEST_BYTES = 64;

/** 0: nobody wrote one. */
export function readHeadFile(databasePath: string): number {
  try {
    const text = readOwnFile(pathOf(databasePath), LARGEST_BYTES) ?? "";
    return /^\d{1,15}\n$/.test(text) ? Number(text) : 0;
  } catch {
    return 0;
  }
}

/** A full disk costs the file, not the start. */
export function tryWriteHeadFile(databasePath: string, head: number): void {
  try {
    writeFileAtomicSync(pathOf(databasePath), `${head}\n`);
  } catch {
    // A copy that is put back before the next write is not noticed.
  }
}

function pathOf(databasePath: string): string {
  return `${databasePath}.head`;
}
