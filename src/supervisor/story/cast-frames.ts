/** The recording of a terminal as plain text, moment by moment: what the report shows of it. */
import { join } from "node:path";
import type { Frame } from "../../capture/report/report-page.ts";
import { readNewLines } from "../../platform/line-cursor.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { allLines } from "./all-lines.ts";

/** Of all frames together; a report must still open. */
const MOST_TEXT = 4 * 1_048_576;
const MOST_FRAMES = 50_000;

export async function readFrames(directory: string, gaps: string[]): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  let kept = 0;
  try {
    for await (const { lines } of allLines((cursor) => readNewLines(join(directory, "terminal.cast"), cursor)))
      for (const { text } of lines) {
        const frame = frameOf(text);
        if (frame === null) continue;
        if (kept + frame[1].length > MOST_TEXT || frames.length >= MOST_FRAMES) {
          gaps.push(
            "The recording of its terminal is longer than a report shows; the whole is in files/terminal.cast.",
          );
          return frames;
        }
        kept += frame[1].length;
        frames.push(frame);
      }
  } catch {
    gaps.push("terminal.cast cannot be read.");
  }
  return frames;
}

/** Null for the head, for what is typed or resized, and for a torn line. */
function frameOf(line: string): Frame | null {
  try {
    const parsed: unknown = JSON.parse(line);
    if (!Array.isArray(parsed)) return null;
    const [at, kind, text] = parsed as unknown[];
    return typeof at === "number" && kind === "o" && typeof text === "string" ? [at, stripTerminal(text)] : null;
  } catch {
    return null;
  }
}
