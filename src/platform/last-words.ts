/**
 * Ends the daemon after an error that nothing caught: it records the error, as
 * far as it still can, and exits. The next command starts a new daemon, which
 * continues from the records.
 */
import { closeSync, constants, ftruncateSync, readSync } from "node:fs";
import type { Log } from "./log.ts";
import { openOwnFile } from "./own-file.ts";

/** Enough for the stack that Node prints. */
const MOST_STDERR_BYTES = 2_000;

/** sysexits(3) EX_SOFTWARE. */
const BROKEN = 70;

/** Promises that nobody caught come here too. */
export function endOnUncaught(log: Log, onDeath: (error: string) => void): void {
  process.on("uncaughtException", (error: unknown, origin) => {
    const text = stackOf(error);
    log("an error was not caught, and the daemon ends", { origin, why: text });
    onDeath(text);
    process.exit(BROKEN);
  });
  process.on("warning", (warning) => log("a warning of Node's", { why: stackOf(warning) }));
}

/**
 * What the daemon before this one left on its stderr: only Node itself writes
 * there, when it is out of memory or finds itself broken. Read once.
 */
export function takeStderr(path: string): string {
  let file: number;
  try {
    file = openOwnFile(path, constants.O_RDWR);
  } catch {
    return "";
  }
  try {
    const bytes = Buffer.alloc(MOST_STDERR_BYTES);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    ftruncateSync(file);
    return bytes.toString("utf8", 0, length).trim();
  } catch {
    return "";
  } finally {
    closeSync(file);
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
