/**
 * Replaces a file as a whole: a reader finds the old content or the new, never
 * a part, also after a crash or a power cut. It never follows a link that was
 * planted at the path or at the temporary name, and never writes through a
 * directory that is a link itself. If something at the path is not a file of
 * ours, it is moved aside.
 *
 * Order: temporary file in the same directory (created exclusively), fsync,
 * rename over the path, fsync of the directory.
 */
import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { clearTheWay } from "./own-file.ts";

export interface AtomicWriteOptions {
  /** 0600 unless said. */
  readonly mode?: number;
  /**
   * A fixed name, in the same directory, for a caller who is the path's only
   * writer: a crash then leaves one stray file at most, and the next write
   * removes it. Without it the name is random.
   */
  readonly temporaryName?: string;
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const temporary = temporaryPath(path, options);
  const directory = await open(dirname(path), DIRECTORY);
  try {
    if (options.temporaryName !== undefined) {
      clearTheWay(temporary);
      await rm(temporary, { force: true });
    }
    const file = await open(temporary, CREATE, options.mode ?? 0o600);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    clearTheWay(path);
    await rename(temporary, path);
    await directory.sync();
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  } finally {
    await directory.close();
  }
}

export function writeFileAtomicSync(path: string, data: string | Uint8Array, options: AtomicWriteOptions = {}): void {
  const temporary = temporaryPath(path, options);
  const directory = openSync(dirname(path), DIRECTORY);
  try {
    if (options.temporaryName !== undefined) {
      clearTheWay(temporary);
      rmSync(temporary, { force: true });
    }
    const file = openSync(temporary, CREATE, options.mode ?? 0o600);
    try {
      writeFileSync(file, data);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    clearTheWay(path);
    renameSync(temporary, path);
    fsyncSync(directory);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  } finally {
    closeSync(directory);
  }
}

function temporaryPath(path: string, options: AtomicWriteOptions): string {
  return join(dirname(path), options.temporaryName ?? `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A directory stands there: not ours, and the write has failed already.
  }
}
