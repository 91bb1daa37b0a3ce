/**
 * Removes a directory and everything in it, one entry at a time, so that nobody
 * else's reads and writes wait behind thousands of deletions. Symbolic links are
 * removed and never followed.
 */
import { chmod, lstat, opendir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "./reeve-error.ts";

/** What is not there is removed already. */
export async function removeTree(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isDirectory()) await removeDirectory(path);
    else await unlink(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

async function removeDirectory(path: string): Promise<void> {
  try {
    await empty(path);
  } catch (error) {
    if (errnoOf(error) !== "EACCES") throw error;
    // Its owner took the permissions away; the directory is ours all the same.
    await chmod(path, 0o700);
    await empty(path);
  }
  await rmdir(path);
}

/** A link to a directory is no directory here. */
async function empty(directory: string): Promise<void> {
  for await (const entry of await opendir(directory)) {
    const path = join(directory, entry.name);
    await (entry.isDirectory() ? removeDirectory(path) : unlink(path));
  }
}

/** Bytes of the plain files in it; links are not followed, and what cannot be looked at counts nothing. */
export async function treeBytes(path: string): Promise<number> {
  let bytes = 0;
  try {
    for await (const entry of await opendir(path)) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) bytes += await treeBytes(inside);
      else if (entry.isFile()) bytes += (await lstat(inside)).size;
    }
  } catch {
    // It is on its way out, or not ours to look into.
  }
  return bytes;
}
