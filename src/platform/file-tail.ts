/**
 * The end of a file of lines, without reading the rest: a few system calls
 * whatever its size. Never parses past the last newline (a writer may be in
 * the middle of a line) nor before the first.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

export interface Tail {
  /** Complete lines, oldest first. */
  readonly lines: readonly string[];
  /** There was more before these. */
  readonly truncated: boolean;
  /** Offset just past the last complete line. */
  readonly end: number;
}

const NEWLINE = 0x0a;

export async function readTail(
  path: string,
  options: { readonly bytes: number; readonly since: number | null },
): Promise<Tail> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await file.stat();
    if (!about.isFile()) throw new Error(`${path} is not a regular file`);
    // A file shorter than the cursor was replaced: everything in it is new.
    const since = options.since !== null && options.since <= about.size ? options.since : 0;
    const start = Math.max(since, about.size - options.bytes);
    const buffer = Buffer.allocUnsafe(Math.min(options.bytes, about.size - start));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    const bytes = buffer.subarray(0, bytesRead);
    const isCut = start > since;
    const from = isCut ? bytes.indexOf(NEWLINE) + 1 : 0;
    const to = bytes.lastIndexOf(NEWLINE) + 1;
    if (to <= from) return { lines: [], truncated: isCut, end: isCut ? about.size : start };
    const lines = bytes.toString("utf8", from, to - 1).split("\n");
    return { lines, truncated: isCut, end: start + to };
  } finally {
    await file.close();
  }
}
