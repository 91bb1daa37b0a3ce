/**
 * Who the daemon of a home is: `daemon.json` in its state directory, while it
 * runs. A daemon that is stopped removes it. If a daemon finds one when it
 * starts, the daemon before it was killed or crashed. Clients read it to say
 * which process does not answer.
 *
 * The file: one JSON object (DaemonRecord), then spaces up to 32 KB. The space
 * is taken when the file is created, so that a daemon that dies of an error on
 * a full disk can still record the error: it overwrites the file in place, and
 * a reader finds the old object, the new one, or something that is not JSON.
 */
import { closeSync, constants, rmSync, writeSync } from "node:fs";
import { fieldsOf } from "./json-fields.ts";
import { openOwnFile } from "./own-file.ts";
import { readPlainFile } from "./plain-file.ts";

export interface DaemonRecord {
  readonly pid: number;
  /** With the pid it names the process beyond doubt. */
  readonly startTicks: string;
  readonly version: string;
  readonly startedAt: number;
  /** What it died of, as far as it could tell. */
  readonly died: { readonly at: number; readonly error: string } | null;
  /** Deaths that are not in the log yet. */
  readonly untold: readonly Death[];
}

/** The end of a daemon that did not stop in order; what is null could not be read. */
export interface Death {
  readonly pid: number | null;
  readonly version: string | null;
  readonly startedAt: number | null;
  /** What it said itself: null when it was killed. */
  readonly error: string | null;
}

export interface OwnRecord {
  /** Those before this one are in the log now. */
  told(): void;
  /** The last thing a daemon does. */
  died(error: string): void;
  /** It said itself why it cannot start: only what was untold before remains. */
  withdraw(): void;
  remove(): void;
}

const FILE_BYTES = 32_768;
/** A stack. With all that JSON may make of it, five deaths fit into the file. */
const LONGEST_ERROR = 3_000;
/** Far above what is ever written here. */
const LARGEST_BYTES = 1_048_576;
const MOST_UNTOLD = 4;

/** Throws when the file cannot be made; whoever starts may go on without it. Nothing else throws. */
export function writeDaemonRecord(path: string, own: Omit<DaemonRecord, "died">): OwnRecord {
  let record: DaemonRecord = { ...own, untold: own.untold.slice(-MOST_UNTOLD), died: null };
  // In the place of the one before it, whose room a full disk would not give twice.
  const file = openOwnFile(path, constants.O_WRONLY | constants.O_CREAT);
  const write = (next: Partial<DaemonRecord>): void => void writeSync(file, encode(next), 0, undefined, 0);
  const tryWrite = (next: Partial<DaemonRecord>): void => {
    try {
      write(next);
    } catch {
      // A death that could not be written down is told without its cause, or told twice; the log has it too.
    }
  };
  const remove = (): void => {
    closeSync(file);
    rmSync(path, { force: true });
  };
  try {
    write(record);
  } catch (error) {
    // An empty one would tell of a daemon that nobody knows.
    remove();
    throw error;
  }
  return {
    told() {
      record = { ...record, untold: [] };
      tryWrite(record);
    },
    died: (error) => tryWrite({ ...record, died: { at: Date.now(), error: error.slice(0, LONGEST_ERROR) } }),
    withdraw() {
      if (record.untold.length === 0) remove();
      else tryWrite({ untold: record.untold });
    },
    remove,
  };
}

/** Null where there is none; one that cannot be read says only that somebody was there. */
export function readDaemonRecord(path: string): Partial<DaemonRecord> | null {
  let text: string | null;
  try {
    text = readPlainFile(path, LARGEST_BYTES, "refused");
  } catch {
    return null;
  }
  try {
    return text === null ? null : checked(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Of whoever left this record behind, and of those that it knew of, oldest first. */
export function deathsIn(record: Partial<DaemonRecord>): readonly Death[] {
  const { pid = null, version = null, startedAt = null, died = null, untold = [] } = record;
  if (pid === null && untold.length > 0) return untold;
  return [...untold, { pid, version, startedAt, error: died?.error ?? null }];
}

function encode(record: Partial<DaemonRecord>): Buffer {
  const text = Buffer.from(JSON.stringify(record));
  const padded = Buffer.alloc(Math.max(FILE_BYTES, text.length), " ");
  text.copy(padded);
  return padded;
}

function checked(value: unknown): Partial<DaemonRecord> {
  const { pid, startTicks, version, startedAt, died, untold } = fieldsOf(value);
  const { at, error } = fieldsOf(died);
  return {
    ...(typeof pid === "number" ? { pid } : {}),
    ...(typeof startTicks === "string" ? { startTicks } : {}),
    ...(typeof version === "string" ? { version } : {}),
    ...(typeof startedAt === "number" ? { startedAt } : {}),
    ...(typeof at === "number" && typeof error === "string" ? { died: { at, error } } : {}),
    ...(Array.isArray(untold) ? { untold: untold.slice(-MOST_UNTOLD).map(checkedDeath) } : {}),
  };
}

function checkedDeath(value: unknown): Death {
  const { pid, version, startedAt, error } = fieldsOf(value);
  return {
    pid: typeof pid === "number" ? pid : null,
    version: typeof version === "string" ? version : null,
    startedAt: typeof startedAt === "number" ? startedAt : null,
    error: typeof error === "string" ? error : null,
  };
}
