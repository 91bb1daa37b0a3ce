/** Replaces a file of the user as a whole: a kill leaves it as it was, or as it is to be. */
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

export function replaceFile(path: string, content: Buffer, mode: number): void {
  const temporary = `${path}.reeve-${process.pid}`;
  try {
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(file, content);
      fchmodSync(file, mode & 0o777);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
