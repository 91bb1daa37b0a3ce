/** Appends to the practice transcript; its format is told in transcript-line.ts. */
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { errnoOf } from "../../platform/reeve-error.ts";
import { parseTranscriptLine, type TranscriptLine } from "./transcript-line.ts";

export function appendTranscriptLine(path: string, line: TranscriptLine): void {
  const separator = endsTorn(path) ? "\n" : "";
  appendFileSync(path, `${separator}${JSON.stringify(line)}\n`, { mode: 0o600 });
}

/** The highest turn number in the file: 0 when there is no file or no turn. */
export function latestTurnIn(path: string): number {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return 0;
    throw error;
  }
  let latest = 0;
  for (const raw of content.split("\n")) {
    const line = parseTranscriptLine(raw);
    if (line !== null && line.type !== "session") latest = Math.max(latest, line.turn);
  }
  return latest;
}

/** Whether a writer before this one died in the middle of a line. */
function endsTorn(path: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
  try {
    const { size } = fstatSync(descriptor);
    const last = Buffer.alloc(1);
    return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
  } finally {
    closeSync(descriptor);
  }
}
