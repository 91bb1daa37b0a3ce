/** How much room a disk has. Only what is new needs it: sessions that already run do not need this check. */
import { type StatsFs, statfsSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { ReeveError } from "./reeve-error.ts";

/** A start and its files take about 100 KB; what is left then is for those who clean up. */
const LEAST_BYTES = 512 * 1024;
const LEAST_FILES = 16;

/** Throws when the disk that holds this directory is full. */
export function requireRoom(directory: string): void {
  const obstacle = obstacleIn(statfsSync(directory));
  if (obstacle !== null) throw full(directory, obstacle);
}

export interface Room {
  /** The same for directories on the same disk. */
  readonly device: number;
  readonly bytes: number;
  readonly totalBytes: number;
  /** Nothing new would be started. */
  readonly isFull: boolean;
}

export async function roomOf(directory: string): Promise<Room> {
  const [{ dev: device }, disk] = await Promise.all([stat(directory), statfs(directory)]);
  const { bavail, bsize, blocks } = disk;
  return { device, bytes: bavail * bsize, totalBytes: blocks * bsize, isFull: obstacleIn(disk) !== null };
}

function obstacleIn({ bavail, bsize, files, ffree }: StatsFs): string | null {
  const bytes = bavail * bsize;
  if (bytes < LEAST_BYTES) return `${Math.floor(bytes / 1024)} KB left`;
  // Some file systems make inodes as they go and tell of none.
  return files > 0 && ffree < LEAST_FILES ? `room for ${ffree} more files` : null;
}

function full(directory: string, left: string): ReeveError {
  return new ReeveError({
    code: "disk-full",
    kind: "unavailable",
    message: `The disk that holds ${directory} is full (${left}); free some of it and try again. Sessions that run can still be listed and ended.`,
    details: { directory },
  });
}
