/**
 * Reads small files whole, at paths where somebody may have put anything. It
 * checks what is there before it opens it (opening a device may have side
 * effects) and again afterwards, and opens nothing in a way that waits. An
 * error without an errno means that it is not a plain file, or too large.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync } from "node:fs";
import { errnoOf } from "./reeve-error.ts";

/** Never waiting for the other end of a pipe, never taking a terminal. */
const CAREFULLY = constants.O_NONBLOCK | constants.O_NOCTTY;

/** The whole of it; null where there is none. Throws for what is not a plain file, too large, or cannot be read. */
export function readPlainFile(
  path: string,
  mostBytes: number,
  links: "followed" | "refused" = "followed",
): string | null {
  const about = (links === "followed" ? statSync : lstatSync)(path, { throwIfNoEntry: false });
  if (about?.isFile() === false) throw notPlain(path);
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | CAREFULLY | (links === "followed" ? 0 : constants.O_NOFOLLOW));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
  try {
    const opened = fstatSync(file);
    if (!opened.isFile()) throw notPlain(path);
    const { size } = opened;
    if (size > mostBytes) throw new Error(`${path} has ${size} bytes, more than ${mostBytes}`);
    const buffer = Buffer.alloc(size);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, size, 0));
  } finally {
    closeSync(file);
  }
}

/** The same where it makes no difference why there is nothing to read. */
export function readPlainFileIfFit(path: string, mostBytes: number): string | null {
  try {
    return readPlainFile(path, mostBytes);
  } catch {
    return null;
  }
}

/** Opens a plain file and nothing else. */
export function openPlain(path: string, flags: number, mode?: number): number {
  const file = openSync(path, flags | CAREFULLY, mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw notPlain(path);
}

function notPlain(path: string): Error {
  return new Error(`${path} is not a regular file`);
}
