/**
 * Removes what a killed agent leaves of its channel's socket. Only for a
 * session whose processes are proven gone, and only what is named after its
 * own socket, whose path no other session has.
 */
import { lstatSync, realpathSync, type Stats, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Agent } from "../../agent/contract.ts";

export function removeSocketFiles({ socketFiles }: Pick<Agent, "socketFiles">, socket: string | null): void {
  if (socketFiles === undefined || socket === null) return;
  const real = join(realpathSync(dirname(socket)), basename(socket));
  for (const path of socketFiles(real)) {
    const directory = lstatSync(dirname(path), { throwIfNoEntry: false });
    const file = lstatSync(path, { throwIfNoEntry: false });
    if (directory?.isDirectory() !== true || !isOurs(directory)) continue;
    if (file !== undefined && !file.isDirectory() && isOurs(file)) unlinkSync(path);
  }
}

function isOurs({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}
