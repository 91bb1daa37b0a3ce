/**
 * A file that somebody asked for by its name appears when it is whole, and never
 * in place of another one. Until then it has a name beside it, which says which
 * process writes it: so what one left that was killed is known as such, and
 * removed by the next that writes the same file.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { link, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAlive, readProcess } from "./process-table.ts";
import { errnoOf } from "./reeve-error.ts";

export function unfinishedName(path: string, what: "part" | "stage"): string {
  const startTicks = readProcess(process.pid)?.startTicks ?? "0";
  return join(
    dirname(path),
    `.${basename(path)}.${process.pid}-${startTicks}-${randomBytes(4).toString("hex")}.${what}`,
  );
}

const WRITER = /^\.(\d+)-(\d+)-[0-9a-f]{8}\.(?:part|stage)$/;

/** Gives it its name, beside the unfinished one; false: there is a file of that name, which somebody may have put there meanwhile. */
export async function giveName(unfinished: string, path: string): Promise<boolean> {
  try {
    await link(unfinished, path);
  } catch (error) {
    // The rest is for a file system without hard links.
    if (errnoOf(error) === "EEXIST" || existsSync(path)) return false;
    await rename(unfinished, path);
  }
  const directory = await open(dirname(path), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
  return true;
}

/** Removes what is unfinished of the same file, and whose writer is gone. */
export async function removeAbandoned(path: string): Promise<void> {
  for (const left of await abandonedOf(path)) await rm(left, { force: true });
}

/** Removes the file itself if it is the same as one of those: its writer was killed before anybody knew of it. */
export async function removeUnnoted(path: string): Promise<void> {
  const file = await lstat(path).catch(() => null);
  if (file === null || file.nlink < 2) return;
  for (const left of await abandonedOf(path)) {
    const { ino, dev } = await lstat(left);
    if (ino === file.ino && dev === file.dev) await rm(path, { force: true });
  }
}

async function abandonedOf(path: string): Promise<readonly string[]> {
  const beginning = `.${basename(path)}`;
  const names = await readdir(dirname(path));
  return names
    .filter((name) => {
      const [, pid, startTicks] = name.startsWith(beginning) ? (WRITER.exec(name.slice(beginning.length)) ?? []) : [];
      return pid !== undefined && startTicks !== undefined && !isAlive(Number(pid), startTicks);
    })
    .map((name) => join(dirname(path), name));
}
