/**
 * Copies what an agent logs for itself to where the user wants its debug log,
 * without secrets: the agent writes into `native/`, and what was copied of that
 * is blanked. After a crash in between, the last lines may stand there twice.
 */
import { openLineFile } from "../../capture/line-file.ts";
import type { LineCursor } from "../../platform/line-cursor.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";

/** Of the copy and the older one together. */
const MOST_BYTES = 64 * 1_048_576;

/** Answers the cursor to go on with; the same where nothing was copied. */
export async function copyDebugLog(
  files: Pick<SessionFiles, "readNewLines" | "blankUpTo">,
  {
    from,
    to,
    cursor,
    redact,
  }: {
    readonly from: string;
    readonly to: string;
    readonly cursor: LineCursor | null;
    readonly redact: (text: string) => string;
  },
): Promise<LineCursor | null> {
  const { lines, cursor: next } = await files.readNewLines(from, cursor);
  if (next === null || next.offset === cursor?.offset) return cursor;
  // A secret may have line breaks in it.
  const text = redact(lines.map((line) => line.text).join("\n"));
  const copy = openLineFile({
    path: to,
    mostBytes: MOST_BYTES,
    lost: (lost) => `[${lost.lines} lines are missing here]`,
    linesOf: () => 0,
    told: { failed: () => undefined, resumed: () => undefined },
  });
  if (text.trim() !== "") for (const line of text.split("\n")) copy.push(line);
  await copy.close();
  return copy.outage === null ? await files.blankUpTo(from, next) : cursor;
}
