/**
 * The end of a file of ours that grows, in a directory that an agent may be able
 * to change. No link is followed, nothing is opened in a way that waits, and
 * what is no file of ours is moved aside. Every log of a session is written
 * through this: line-file.ts lets lines wait here, line-log.ts says how far a
 * file goes, and both end a line that a crash cut before they write on.
 */
import { constants } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { clearTheWay } from "../platform/own-file.ts";

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NEWLINE = 0x0a;

export interface OwnEnd {
  readonly file: FileHandle;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Opened for appending, and made where there is none. */
export async function withOwnEnd<T>(path: string, work: (end: OwnEnd) => Promise<T>): Promise<T> {
  clearTheWay(path);
  const file = await open(path, FLAGS, 0o600);
  try {
    const about = await file.stat();
    if (!about.isFile()) throw new Error("it is not a regular file");
    return await work({ file, size: about.size, modifiedMs: about.mtimeMs });
  } finally {
    await file.close();
  }
}

/** Ends what was cut, so that what follows is a line of its own. */
export async function endCutLine(end: OwnEnd): Promise<void> {
  if (end.size === 0) return;
  const { buffer } = await end.file.read({ buffer: Buffer.alloc(1), position: end.size - 1 });
  if (buffer[0] !== NEWLINE) await appendBytes(end, Buffer.from("\n"));
}

/** All of them, or it throws; `wrote` is told of each part that is in the file, also of those before it failed. */
export async function appendBytes({ file }: OwnEnd, bytes: Buffer, wrote?: (count: number) => void): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, from);
    from += bytesWritten;
    wrote?.(bytesWritten);
  }
}

/** The file becomes the older one, in the place of the one before it. */
export async function turnOver(path: string): Promise<void> {
  clearTheWay(`${path}.1`);
  await rename(path, `${path}.1`);
}
