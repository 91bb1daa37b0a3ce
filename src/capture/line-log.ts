/**
 * A file of JSON lines that something else is written down in: each line has
 * a `seq`, and the last whole line says how far it goes. So whoever writes needs
 * to remember nothing: after a crash, or a write that failed, `resume` says
 * where to go on.
 *
 * A write may be cut anywhere (kill -9, full disk). What was cut is ended by a
 * line break first, and then counts if it is whole; else it is no JSON, and
 * readers skip it. A full file is renamed to `<name>.1`, and a new one begins.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { readTail } from "../platform/file-tail.ts";
import { isFields, parseFields, type Fields } from "../platform/json-fields.ts";
import { clearTheWay } from "../platform/own-file.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { errnoOf } from "../platform/reeve-error.ts";
import { appendBytes, endCutLine, turnOver, withOwnEnd } from "./own-end.ts";

export interface LineLog {
  /** Ends what was cut, and gives the last whole line, of this file or of the one before it; null: there is none. */
  resume(): Promise<NumberedLine | null>;
  /** Appends them, whole and in order. If that fails, some of them may be there: ask `resume` before the next. */
  append(lines: readonly string[]): Promise<void>;
  /** Somebody took the file away that lines were in. Also told by `append`, which then writes none (RemovedLog). */
  isRemoved(): boolean;
}

/** What was appended before is gone: whoever writes has to begin again, after `resume`. */
export class RemovedLog extends Error {}

export type NumberedLine = Fields & { readonly seq: number };

/** Where the last lines are found, first in a little; more only where somebody else wrote into the file. */
const TAIL_BYTES = [65_536, 1_048_576, 33_554_432];

export function openLineLog(path: string, mostBytes: number): LineLog {
  let hasLines = false;
  return {
    async resume() {
      clearTheWay(path);
      if (existsSync(path)) await withOwnEnd(path, endCutLine);
      const last = await lastLineOf(path);
      hasLines = last !== null;
      return last ?? (await lastLineOf(`${path}.1`));
    },
    async append(lines) {
      if (lines.length === 0) return;
      const bytes = Buffer.from(`${lines.join("\n")}\n`);
      if (!existsSync(dirname(path))) ensurePrivateDir(dirname(path));
      const isFull = await withOwnEnd(path, async (end) => {
        if (hasLines && end.size === 0) throw new RemovedLog(`${path} was removed`);
        if (end.size > 0 && end.size + bytes.length > mostBytes) return true;
        await appendBytes(end, bytes);
        return false;
      });
      if (isFull) {
        await turnOver(path);
        await withOwnEnd(path, (end) => appendBytes(end, bytes));
      }
      hasLines = true;
    },
    isRemoved: () => hasLines && !existsSync(path),
  };
}

async function lastLineOf(path: string): Promise<NumberedLine | null> {
  clearTheWay(path);
  for (const bytes of TAIL_BYTES) {
    const tail = await readTail(path, { bytes, since: null }).catch((error: unknown) => {
      if (errnoOf(error) === "ENOENT") return null;
      throw error;
    });
    if (tail === null) return null;
    const found = tail.lines.map(numbered).findLast((line) => line !== null);
    if (found !== undefined || !tail.truncated) return found ?? null;
  }
  return null;
}

function numbered(line: string): NumberedLine | null {
  const fields = parseFields(line);
  return isNumbered(fields) ? fields : null;
}

function isNumbered(fields: unknown): fields is NumberedLine {
  return isFields(fields) && Number.isSafeInteger(fields["seq"]);
}
