/**
 * Reads the lines that were added to a file since the last call. It keeps no
 * state between calls: the cursor holds everything, is plain data and survives
 * a restart. It returns a line only when its newline is there, returns no line
 * twice unless it says that the file is another one, and never holds more than
 * the bytes of one call, however long a line is.
 *
 * The cursor's identity is `<inode>:<digest>`, the digest over the bytes just
 * before the offset. It tells a file that was truncated and has grown again,
 * or was rewritten in place, or got the inode of one that was removed (ext4
 * and tmpfs hand it out at once). The device is left out: btrfs, overlay and
 * LVM may number it anew at each boot, and every transcript would look new.
 * The path is left out too, so a rotated file can be read to its end under its
 * new name.
 */
import { hash } from "node:crypto";
import { closeSync, constants, readSync, writeSync } from "node:fs";
import { openRegularFile, readInto, type RegularFile, withoutNuls } from "./file-tail.ts";
import { openOwnFile } from "./own-file.ts";
import { errnoOf } from "./reeve-error.ts";

export interface LineCursor {
  /** Tells the file it belongs to from one that took its cursor. */
  readonly identity: string;
  /** Just past the last complete line consumed. */
  readonly offset: number;
  /** The bytes before `offset` belong to a line over the cap, whose rest is to be skipped up to its newline. */
  readonly isInLongLine: boolean;
}

export interface NewLine {
  /** Without its newline, a carriage return before it, and NUL bytes; never empty. */
  readonly text: string;
  /** Offset just past its newline. */
  readonly end: number;
}

export interface NewLines {
  readonly lines: readonly NewLine[];
  /** Lines over the cap, each counted once: as soon as it is known to be one. */
  readonly skippedLines: number;
  /** As given if the file is not there, or is another that is empty still: should it come back, it is recognised. */
  readonly cursor: LineCursor | null;
  /** It is another file, or what had been read of it has changed: these lines are from its beginning. Said once. */
  readonly wasReplaced: boolean;
  /** Call again. */
  readonly hasMore: boolean;
}

export interface ReadLimits {
  /** For one call; a single line that is longer still comes whole. */
  readonly mostBytes: number;
  /** In bytes, without its newline; longer ones are skipped. */
  readonly longestLine: number;
}

const MIB = 1024 * 1024;
const NEWLINE = 0x0a;
/** The last line of a transcript often ends like the one before it; this much reaches into what is its own. */
const DIGESTED_BYTES = 256;
const START: LineCursor = { identity: "", offset: 0, isInLongLine: false };

export async function readNewLines(
  path: string,
  cursor: LineCursor | null,
  options: Partial<ReadLimits> = {},
): Promise<NewLines> {
  const limits = { mostBytes: options.mostBytes ?? MIB, longestLine: options.longestLine ?? 4 * MIB };
  const found = await openIfThere(path);
  if (found === null) return nothingIn(cursor);
  try {
    const before = cursor ?? START;
    const same = await readIfSame(found, before, limits);
    if (same !== null) return frame(found, same, before, limits);
    // Somebody is about to write it. Were it taken for the replacement, all that comes into it would count as new.
    if (found.size === 0 && !isInodeOf(before, found)) return nothingIn(cursor);
    const other = await readChunk(found, START, limits);
    return { ...frame(found, other, START, limits), wasReplaced: true };
  } finally {
    closeSync(found.descriptor);
  }
}

/**
 * Overwrites with blanks what has been read of a file, up to the cursor, and returns the cursor for the same place.
 * Whoever appends to the file meanwhile is not disturbed. Null where the file is gone or is another one.
 */
export async function blankUpTo(path: string, { identity, offset }: LineCursor): Promise<LineCursor | null> {
  const found = await openIfThere(path);
  if (found === null) return null;
  try {
    if (offset > found.size || (offset > 0 && !isInodeOf({ identity, offset, isInLongLine: false }, found)))
      return null;
    const file = openOwnFile(path, constants.O_RDWR);
    try {
      const bytes = Buffer.alloc(Math.min(offset, MIB), " ");
      for (let from = 0; from < offset; from += bytes.length)
        writeSync(file, bytes, 0, Math.min(bytes.length, offset - from), from);
      // So that the next line stands alone.
      if (offset > 0) writeSync(file, "\n", offset - 1);
    } finally {
      closeSync(file);
    }
    const chunk = await readAround(found.descriptor, offset, 0);
    return { identity: identify(found, chunk, offset), offset, isInLongLine: false };
  } finally {
    closeSync(found.descriptor);
  }
}

function nothingIn(cursor: LineCursor | null): NewLines {
  return { lines: [], skippedLines: 0, cursor, wasReplaced: false, hasMore: false };
}

function isInodeOf({ identity }: LineCursor, { inode }: RegularFile): boolean {
  return identity.startsWith(`${inode}:`);
}

async function openIfThere(path: string): Promise<RegularFile | null> {
  try {
    return await openRegularFile(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return null;
    throw error;
  }
}

interface Chunk {
  /** The bytes to be digested, then the new ones. */
  readonly bytes: Buffer;
  /** Offset of the first of them. */
  readonly start: number;
}

/** Null: the cursor belongs to another file. Where nothing was consumed yet, any file will do. */
async function readIfSame(found: RegularFile, cursor: LineCursor, limits: ReadLimits): Promise<Chunk | null> {
  const { identity, offset } = cursor;
  if (offset === 0) return readChunk(found, cursor, limits);
  if (offset > found.size || !isInodeOf(cursor, found)) return null;
  const chunk = await readChunk(found, cursor, limits);
  return identify(found, chunk, offset) === identity ? chunk : null;
}

/** The new bytes; beyond `mostBytes` only to find the end of a line that may yet be short enough. */
async function readChunk({ descriptor, size }: RegularFile, cursor: LineCursor, limits: ReadLimits): Promise<Chunk> {
  const { offset, isInLongLine } = cursor;
  const { mostBytes, longestLine } = limits;
  for (let bytes = mostBytes; ; bytes = bytes * 4 >= longestLine ? longestLine + 1 : bytes * 4) {
    const chunk = await readAround(descriptor, offset, Math.min(bytes, size - offset));
    const isEnough = isInLongLine || bytes > longestLine || bytes >= size - offset;
    if (isEnough || chunk.bytes.includes(NEWLINE, offset - chunk.start)) return chunk;
    release(chunk);
  }
}

/** A few new lines have just been written and are in memory still: reading them costs less than having them read. */
const AT_ONCE_BYTES = 16_384;

async function readAround(descriptor: number, offset: number, length: number): Promise<Chunk> {
  const start = Math.max(0, offset - DIGESTED_BYTES);
  const buffer = Buffer.allocUnsafeSlow(offset - start + length);
  const bytesRead =
    length <= AT_ONCE_BYTES
      ? readSync(descriptor, buffer, 0, buffer.length, start)
      : (await readInto(descriptor, buffer, 0, buffer.length, start)).bytesRead;
  return { bytes: buffer.subarray(0, bytesRead), start };
}

/**
 * Gives the memory back now. The garbage collector hardly sees it, and would
 * let some sixty megabytes of such buffers gather first (Node 24).
 */
function release({ bytes }: Chunk): void {
  (bytes.buffer as ArrayBuffer).transfer(0);
}

/** Uses the chunk up. */
function frame(found: RegularFile, chunk: Chunk, cursor: LineCursor, { longestLine }: ReadLimits): NewLines {
  const { bytes, start } = chunk;
  const hasNuls = bytes.includes(0);
  const lines: NewLine[] = [];
  let skippedLines = 0;
  let { isInLongLine } = cursor;
  let from = cursor.offset - start;
  for (let to = bytes.indexOf(NEWLINE, from); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
    const isLong = to - from > longestLine;
    if (isLong && !isInLongLine) skippedLines += 1;
    const text = isLong || isInLongLine ? "" : textOf(bytes, from, to, hasNuls);
    if (text !== "") lines.push({ text, end: start + to + 1 });
    isInLongLine = false;
    from = to + 1;
  }
  if (!isInLongLine && bytes.length - from > longestLine) {
    skippedLines += 1;
    isInLongLine = true;
  }
  if (isInLongLine) from = bytes.length;

  const offset = start + from;
  const next = { identity: identify(found, chunk, offset), offset, isInLongLine };
  // One that made no way was shorter than it had said; asking again at once would not help.
  const hasMore = start + bytes.length < found.size && offset > cursor.offset;
  release(chunk);
  return { lines, skippedLines, cursor: next, wasReplaced: false, hasMore };
}

function textOf(bytes: Buffer, from: number, to: number, hasNuls: boolean): string {
  const text = hasNuls ? withoutNuls(bytes.subarray(from, to)).toString("utf8") : bytes.toString("utf8", from, to);
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

function identify({ inode }: RegularFile, { bytes, start }: Chunk, offset: number): string {
  const to = offset - start;
  const digest = hash("sha256", bytes.subarray(Math.max(0, to - DIGESTED_BYTES), to), "hex");
  return `${inode}:${digest.slice(0, 16)}`;
}
