/**
 * The end of a file of lines, without reading the rest: a few system calls
 * whatever its size. Never parses past the last newline (a writer may be in the
 * middle of a line) nor before the first. It also opens files that an agent may
 * have planted, for itself and for line-cursor.ts.
 */
import { closeSync, constants, fstatSync, open, read } from "node:fs";
import { promisify } from "node:util";
import { errnoOf } from "./reeve-error.ts";

export interface Tail {
  /** Complete lines, oldest first, without the NUL bytes that a power cut leaves. */
  readonly lines: readonly string[];
  /** There was more before these; without any, the newest is too long to be shown. */
  readonly truncated: boolean;
  /** Offset of the first of the lines; without any, the same as `end`. */
  readonly start: number;
  /** Offset just past the last complete line. */
  readonly end: number;
}

const NEWLINE = 0x0a;
/** How far back the newest line is looked for if it is longer than what was asked for. */
const FARTHEST = 4 * 1024 * 1024;
/** The first step back: most long lines (a tool's output, 48 KB and more) fit. */
const STEP = 512 * 1024;

/** At most the last `bytes`, or the newest complete line alone if they do not hold it. */
export async function readTail(
  path: string,
  options: { readonly bytes: number; readonly since: number | null },
): Promise<Tail> {
  const { descriptor, size } = await openRegularFile(path);
  try {
    // A file shorter than the cursor was replaced: everything in it is new.
    const since = options.since !== null && options.since <= size ? options.since : 0;
    for (let bytes = options.bytes; ; bytes = Math.min(Math.max(bytes * 8, STEP), FARTHEST)) {
      const window = await readWindow(descriptor, { size, since, bytes });
      const isFound = window.from < window.to;
      if (isFound && bytes > options.bytes) return tailOf({ ...window, from: startOfNewest(window) }, since);
      if (isFound || !window.isCut || bytes >= FARTHEST) return tailOf(window, since);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The complete lines of the bytes are those from `from` to `to`. */
interface Window {
  readonly bytes: Buffer;
  /** Offset of the first byte. */
  readonly offset: number;
  readonly isCut: boolean;
  readonly from: number;
  readonly to: number;
}

async function readWindow(
  descriptor: number,
  wanted: { readonly size: number; readonly since: number; readonly bytes: number },
): Promise<Window> {
  const start = Math.max(wanted.since, wanted.size - wanted.bytes);
  const isCut = start > wanted.since;
  // The byte before tells whether a line begins exactly here.
  const offset = isCut ? start - 1 : start;
  const buffer = Buffer.allocUnsafe(wanted.size - offset);
  const { bytesRead } = await readInto(descriptor, buffer, 0, buffer.length, offset);
  const bytes = buffer.subarray(0, bytesRead);
  const to = bytes.lastIndexOf(NEWLINE) + 1;
  return { bytes, offset, isCut, from: isCut ? bytes.indexOf(NEWLINE) + 1 : 0, to };
}

function startOfNewest({ bytes, to }: Window): number {
  return to < 2 ? 0 : bytes.lastIndexOf(NEWLINE, to - 2) + 1;
}

function tailOf({ bytes, offset, isCut, from, to }: Window, since: number): Tail {
  if (to <= from) {
    // No newline at all: where the last complete line ended is out of sight, so the cursor stays.
    const end = to === 0 ? since : offset + to;
    return { lines: [], truncated: isCut, start: end, end };
  }
  const lines = withoutNuls(bytes.subarray(from, to - 1))
    .toString("utf8")
    .split("\n");
  return { lines, truncated: offset + from > since, start: offset + from, end: offset + to };
}

export interface RegularFile {
  /** A plain one: whoever has it closes it. A FileHandle would take as long to make as the file to open. */
  readonly descriptor: number;
  readonly size: number;
  readonly inode: string;
}

const openFile = promisify(open);
export const readInto = promisify(read);

/**
 * Follows links, since a home may be one. Whatever the path leads to, a FIFO
 * does not block (O_NONBLOCK) and a terminal does not become ours (O_NOCTTY).
 * Only the opening is left to a thread, since a file system that is not there
 * hangs in it: of an open file the kernel knows the rest.
 */
export async function openRegularFile(path: string): Promise<RegularFile> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  const descriptor = await openFile(path, flags).catch((error: unknown) => {
    // What open(2) says of a socket, and of a device without a driver.
    throw errnoOf(error) === "ENXIO" ? notRegular(path) : error;
  });
  try {
    const about = fstatSync(descriptor, { bigint: true });
    if (!about.isFile()) throw notRegular(path);
    return { descriptor, size: Number(about.size), inode: String(about.ino) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function notRegular(path: string): Error {
  return new Error(`${path} is not a regular file, so it has no lines to read.`);
}

/** A new buffer only where there are any. */
export function withoutNuls(bytes: Buffer): Buffer {
  if (!bytes.includes(0)) return bytes;
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    if (byte === 0) continue;
    kept[length] = byte;
    length += 1;
  }
  return kept.subarray(0, length);
}
