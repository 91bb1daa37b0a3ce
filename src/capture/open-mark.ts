/**
 * `session_oai_raw.log.open` is an empty file that is there while the capture
 * proxy has the log open: made before it records anything, removed when all is
 * written. Where it is left, the proxy was killed, and what it had not written
 * yet is missing. Its time says since when that may be.
 */
import { closeSync, constants, futimesSync, lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openOwnFile } from "../platform/own-file.ts";
import { RAW_LOG_NAME } from "./raw-log.ts";

export function openMarkPath(directory: string): string {
  return join(directory, `${RAW_LOG_NAME}.open`);
}

/** Where it cannot be made, the log cannot be written either, and whoever writes that says so. */
export function markOpen(directory: string, since = Date.now()): void {
  try {
    const file = openOwnFile(openMarkPath(directory), constants.O_WRONLY | constants.O_CREAT);
    futimesSync(file, since / 1_000, since / 1_000);
    closeSync(file);
  } catch {
    return;
  }
}

export function removeMark(directory: string): void {
  try {
    rmSync(openMarkPath(directory), { force: true });
  } catch {
    return;
  }
}

/** Since when the log is open, or was when its writer was killed; null: it was closed. */
export function openSince(directory: string): number | null {
  const about = lstatSync(openMarkPath(directory), { throwIfNoEntry: false });
  return about?.isFile() === true ? Math.round(about.mtimeMs) : null;
}
