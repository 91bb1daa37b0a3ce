/** `daemon logs`: the daemon's own log, for people. A file of JSON lines; the daemon need not run. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { systemClock } from "../../platform/clock.ts";
import { locateHome } from "../../platform/home.ts";
import { errnoOf, ReeveError } from "../../platform/reeve-error.ts";
import type { CliContext } from "./command.ts";
import { UNREAD } from "./exit-codes.ts";
import { oneLine } from "./session-text.ts";

/** Lines are short; this holds thousands. */
const MOST_BYTES = 1_048_576;
const LOOK_MS = 300;

export async function showDaemonLog(context: CliContext, count: number, isFollowing: boolean): Promise<number> {
  const path = locateHome(context.environment).logPath;
  const { text, end } = readFrom(path, null);
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .slice(-count);
  if (context.isJson && !isFollowing) {
    context.output.printJson({ path, lines });
    return 0;
  }
  context.output.note(path);
  for (let at = end; ;) {
    for (const line of lines.splice(0)) context.output.print(`${context.isJson ? line : oneLine(line)}\n`);
    if (!isFollowing) return 0;
    if (!context.output.hasReader()) return UNREAD;
    await systemClock.sleep(LOOK_MS);
    const next = readFrom(path, at);
    at = next.end;
    lines.push(...next.text.split("\n").filter((line) => line !== ""));
  }
}

/** From this byte on, or its end; a file that became shorter was begun anew. Only whole lines. */
function readFrom(path: string, from: number | null): { readonly text: string; readonly end: number } {
  const file = openLog(path);
  try {
    const { size } = fstatSync(file);
    const isAnew = from !== null && from > size;
    const start = from === null || isAnew ? Math.max(0, size - MOST_BYTES) : from;
    const buffer = Buffer.alloc(Math.min(MOST_BYTES, Math.max(0, size - start)));
    const read = readSync(file, buffer, 0, buffer.length, start);
    const text = buffer.toString("utf8", 0, read);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    return { text: whole, end: start + Buffer.byteLength(whole) };
  } finally {
    closeSync(file);
  }
}

function openLog(path: string): number {
  try {
    // What stands there may be no file: nothing is waited for.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    throw new ReeveError({
      code: "no-log",
      kind: "not-found",
      message: `There is no log at ${path} yet: no daemon has run here; start one with reeve daemon start.`,
    });
  }
}
