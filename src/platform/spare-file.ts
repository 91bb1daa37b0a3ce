/**
 * Empty files in a directory, `spare-1` and on, each of which frees one inode
 * when the disk has none left. Use the inode at once after deleting one,
 * because another process may take it.
 */
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const COUNT = 8;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** As many as there is room for. */
export function keepSpares(directory: string): void {
  try {
    for (const path of pathsIn(directory)) closeSync(openSync(path, CREATE, 0o600));
  } catch {
    // The disk has no more.
  }
}

/** False when there is none left. */
export function giveUpSpare(directory: string): boolean {
  return pathsIn(directory).some((path) => {
    try {
      unlinkSync(path);
      return true;
    } catch {
      return false;
    }
  });
}

function pathsIn(directory: string): readonly string[] {
  return Array.from({ length: COUNT }, (_, index) => join(directory, `spare-${index + 1}`));
}
