/**
 * Reads the memories out of a damaged memory.db, without changing it. The table is
 * read row by row, past those that cannot be read. If that meets damage, a copy is
 * read as well whose first page (header and schema) is that of a sound file: all
 * files of one version have the same, but for the number of pages.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { MEMORY_KINDS, type Memory } from "./memory.ts";
import { COLUMNS, type MemoryColumns, memoryOf } from "./memory-row.ts";

const PAGE_BYTES = 4_096;

/** Where the header keeps how many pages there are. */
const PAGE_COUNT_AT = 28;

/** Damage that hides more rows than this in one place is not searched to its end. */
const MOST_MISSES = 200_000;

/** With their places, in order. `soundPath`: a file of the same version that holds nothing, for its first page. */
export function salvagedMemories(path: string, soundPath: string): readonly (readonly [number, Memory])[] {
  const found = new Map<number, Memory>();
  if (!readInto(found, path)) {
    const copy = `${path}.salvage`;
    removeCopy(copy);
    try {
      withSoundBeginning(path, copy, soundPath);
      readInto(found, copy);
    } catch {
      // No room for a copy: what was read of the file itself is what there is.
    } finally {
      removeCopy(copy);
    }
  }
  return [...found].toSorted(([one], [other]) => one - other);
}

/** By their places; false: something could not be read. */
function readInto(found: Map<number, Memory>, path: string): boolean {
  let db: DatabaseSync;
  try {
    db = new DatabaseSync(path, { readOnly: true });
  } catch {
    return false;
  }
  try {
    return readRows(db, found);
  } catch {
    return false;
  } finally {
    db.close();
  }
}

type Row = readonly [...MemoryColumns, place: number];

function readRows(db: DatabaseSync, found: Map<number, Memory>): boolean {
  const rest = db.prepare(`SELECT ${COLUMNS}, place FROM memory WHERE place > ? ORDER BY place`);
  const one = db.prepare(`SELECT ${COLUMNS}, place FROM memory WHERE place = ?`);
  for (const statement of [rest, one]) statement.setReturnArrays(true);
  const last = lastPlace(db);
  let isWhole = true;
  let place = 0;
  const take = (row: unknown): void => {
    const at = (row as Row)[11];
    if (isMemory(row as Row) && !found.has(at)) found.set(at, memoryOf(row as Row));
    place = Math.max(place, at);
  };
  for (let misses = 0; misses < MOST_MISSES;) {
    try {
      for (const row of rest.iterate(place)) take(row);
      return isWhole;
    } catch {
      isWhole = false;
    }
    // One by one over the gap, until a place can be looked at again.
    for (let isBlind = true; isBlind && misses < MOST_MISSES; misses += 1) {
      place += 1;
      if (place > last) return false;
      try {
        const row = one.get(place);
        if (row !== undefined) take(row);
        isBlind = false;
      } catch {
        // This one is lost, or its neighbours hide it.
      }
    }
  }
  return false;
}

/** As far as any part of the file tells. */
function lastPlace(db: DatabaseSync): number {
  const questions = [
    "SELECT seq AS last FROM sqlite_sequence WHERE name = 'memory'",
    "SELECT place AS last FROM memory ORDER BY place DESC LIMIT 1",
    "SELECT rowid AS last FROM words_docsize ORDER BY rowid DESC LIMIT 1",
  ];
  return Math.max(
    0,
    ...questions.map((question) => {
      try {
        return Number(db.prepare(question).get()?.["last"] ?? 0);
      } catch {
        return 0;
      }
    }),
  );
}

/** Garbage can look like a row. */
function isMemory(row: Row): boolean {
  const [id, project, role, kind, text, tags, session, turn, commit, author, at] = row as readonly unknown[];
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  const isTextOrNull = (value: unknown): boolean => value === null || typeof value === "string";
  return (
    [id, project, text, author].every(isText) &&
    [role, session, commit].every(isTextOrNull) &&
    (turn === null || Number.isSafeInteger(turn)) &&
    Number.isSafeInteger(at) &&
    MEMORY_KINDS.some((known) => known === kind) &&
    areTags(tags)
  );
}

function areTags(text: unknown): boolean {
  try {
    const tags: unknown = JSON.parse(String(text));
    return Array.isArray(tags) && tags.every((tag) => typeof tag === "string");
  } catch {
    return false;
  }
}

function removeCopy(copy: string): void {
  for (const file of [copy, `${copy}-wal`, `${copy}-shm`]) rmSync(file, { force: true });
}

function withSoundBeginning(path: string, copy: string, soundPath: string): void {
  copyFileSync(path, copy, constants.COPYFILE_EXCL);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_EXCL);
  const page = Buffer.alloc(PAGE_BYTES);
  const sound = openSync(soundPath, "r");
  try {
    readSync(sound, page, 0, PAGE_BYTES, 0);
  } finally {
    closeSync(sound);
  }
  page.writeUInt32BE(Math.floor(statSync(path).size / PAGE_BYTES), PAGE_COUNT_AT);
  const file = openSync(copy, "r+");
  try {
    writeSync(file, page, 0, PAGE_BYTES, 0);
  } finally {
    closeSync(file);
  }
}
