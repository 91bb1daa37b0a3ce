/** Checks whether a disk has room for something new. Sessions that already run do not need this check. */
import { statfsSync } from "node:fs";
import { ReeveError } from "./reeve-error.ts";

/** A start and its files take about 100 KB; what is left then is for those who clean up. */
const LEAST_BYTES = 512 * 1024;
const LEAST_FILES = 16;

/** Throws when the disk that holds this directory is full. */
export function requireRoom(directory: string): void {
  const { bavail, bsize, files, ffree } = statfsSync(directory);
  const bytes = bavail * bsize;
  if (bytes < LEAST_BYTES) throw full(directory, `${Math.floor(bytes / 1024)} KB left`);
  // Some file systems make inodes as they go and tell of none.
  if (files > 0 && ffree < LEAST_FILES) throw full(directory, `room for ${ffree} more files`);
}

function full(directory: string, left: string): ReeveError {
  return new ReeveError({
    code: "disk-full",
    kind: "unavailable",
    message: `The disk that holds ${directory} is full (${left}); free some of it and try again. Sessions that run can still be listed and ended.`,
    details: { directory },
  });
}
