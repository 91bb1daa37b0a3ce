/**
 * The writer of a session's `session_oai_raw.log`: gives each line its number
 * and its times, and passes it on to line-file.ts. It writes what it is given:
 * whatever comes here has been redacted (exchange-recorder.ts does that).
 *
 * Format: docs/spec/session-directory.md. A line begins with
 * `{"v":1,"seq":<number>,`, so that the next writer finds the last number.
 */
import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Moment } from "../platform/clock.ts";
import { openOwnFile } from "../platform/own-file.ts";
import { openLineFile } from "./line-file.ts";
import type { DroppedLine, RawLine } from "./raw-line.ts";

export const RAW_LOG_NAME = "session_oai_raw.log";

export interface RawLog {
  /** `when` it happened, if that was not just now. */
  write(line: RawLine, when?: Moment): void;
  /** Something was to become a line, and was dropped before. */
  drop(bytes: number): void;
  /** Characters that wait to be written. */
  readonly waiting: number;
  /** Why it cannot be written right now. */
  readonly outage: string | null;
  readonly droppedLines: number;
  close(): Promise<void>;
}

export interface RawLogOptions {
  readonly directory: string;
  /** Of the file and the older one together. */
  readonly capBytes: number;
  readonly captured: "proxy" | "native";
  readonly clock: Clock;
  readonly told: {
    /** Once for each outage. */
    failed(why: string): void;
    resumed(droppedLines: number): void;
  };
}

export function openRawLog(options: RawLogOptions): RawLog {
  const path = join(options.directory, RAW_LOG_NAME);
  let last: number | null = null;

  const numbered = (line: RawLine | DroppedLine, when = options.clock.moment()): string => {
    last = (last ?? lastNumber(path) ?? lastNumber(`${path}.1`) ?? 0) + 1;
    const { at, upMs } = when;
    return JSON.stringify({ v: 1, seq: last, at: new Date(at).toISOString(), mono_ms: upMs, ...line });
  };
  const file = openLineFile({
    path,
    mostBytes: options.capBytes,
    lost: ({ lines, bytes }) => numbered({ kind: "dropped", captured: options.captured, lines, bytes }),
    linesOf: linesIn,
    told: options.told,
  });
  return {
    write: (line, when) => file.push(numbered(line, when), FRAMES[line.kind]),
    drop: (bytes) => file.drop(bytes),
    get waiting() {
      return file.waiting;
    },
    get outage() {
      return file.outage;
    },
    get droppedLines() {
      return file.droppedLines;
    },
    close: () => file.close(),
  };
}

const FRAMES: Partial<Record<RawLine["kind"], "head" | "end">> = { "response-head": "head", end: "end", gap: "end" };

/** When the last line happened, and what it tells; null where there is none. */
export function lastRecorded(directory: string): { readonly at: number; readonly kind: string } | null {
  const path = join(directory, RAW_LOG_NAME);
  const [, at, kind] = lastIn(path, HEAD)?.match ?? lastIn(`${path}.1`, HEAD)?.match ?? [];
  return at === undefined || kind === undefined ? null : { at: Date.parse(at), kind };
}

const NUMBER = /(?:^|\n)\{"v":1,"seq":(\d{1,15}),/g;
const HEAD = /(?:^|\n)\{"v":1,"seq":\d{1,15},"at":"([^"]{1,30})","mono_ms":[^,]{1,30},"kind":"([a-z-]{1,20})"/g;
/** Most lines are far shorter; a request may have a few megabytes. */
const TAILS = [65_536, 1_048_576, 16_777_216];

/** The number of the last line that begins in the file; null where there is none. */
function lastNumber(path: string): number | null {
  const last = lastIn(path, NUMBER);
  // No file has more lines than bytes.
  return last === null ? null : Number(last.match?.[1] ?? last.size);
}

/** The last line that begins in the file and fits; null where there is no file. */
function lastIn(
  path: string,
  pattern: RegExp,
): { readonly match: RegExpExecArray | null; readonly size: number } | null {
  let size = 0;
  for (const length of TAILS) {
    const tail = readPart(path, "tail", length);
    if (tail === null) return null;
    const match = [...tail.text.matchAll(pattern)].at(-1);
    ({ size } = tail);
    if (match !== undefined) return { match, size };
    if (size <= length) break;
  }
  return { match: null, size };
}

/** From its first number to its last one. */
function linesIn(path: string): number {
  const first = [...(readPart(path, "head", 64)?.text ?? "").matchAll(NUMBER)][0]?.[1];
  const last = lastNumber(path);
  return first === undefined || last === null ? 1 : Math.max(1, last - Number(first) + 1);
}

/** Null where there is no file, an empty one, or one that cannot be read. */
function readPart(
  path: string,
  part: "head" | "tail",
  most: number,
): { readonly text: string; readonly size: number } | null {
  let file: number;
  try {
    file = openOwnFile(path, constants.O_RDONLY);
  } catch {
    return null;
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, most));
    const length = readSync(file, buffer, 0, buffer.length, part === "head" ? 0 : size - buffer.length);
    return size === 0 ? null : { text: buffer.toString("latin1", 0, length), size };
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}
