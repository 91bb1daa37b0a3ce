/**
 * A session's terminal output as plain text, in its own directory:
 * `output.log`, and `output.log.1` for what came before. Escape sequences are
 * stripped and known secrets redacted before anything is written; the size is
 * bounded. If a write fails, output is lost but the session goes on.
 *
 * Format: UTF-8 text as the terminal received it, less control characters.
 * A line `[reeve <ISO time>: …]` says where recording began or was interrupted.
 */
import { join } from "node:path";
import type { Log } from "../platform/log.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { createTerminalStripper } from "../platform/terminal-text.ts";
import { turnOver, withOwnEnd } from "./own-end.ts";
import type { Redactor } from "./redaction.ts";
import { createRedactor } from "./redaction.ts";

export interface OutputLog {
  push(bytes: Buffer): void;
  close(): Promise<void>;
}

/** Output is gathered this long before it is written: one write for a burst, soon enough to follow with tail -f. */
const FLUSH_MS = 200;
/** More than this in one flush is a flood: the rest of it is dropped, and the log says so. */
const MOST_PENDING_CHARACTERS = 1_048_576;

export function openOutputLog(options: {
  readonly directory: string;
  /** Asked when there is something to write; null: not known, so nothing may be written. */
  readonly secrets: () => Promise<readonly string[] | null>;
  readonly mostBytes: number;
  readonly since: string;
  readonly log: Log;
}): OutputLog {
  const path = join(options.directory, "output.log");
  const stripper = createTerminalStripper();
  let redactor: Redactor | null = null;
  let pending = "";
  let dropped = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  function flushSoon(): void {
    timer ??= setTimeout(() => flush(), FLUSH_MS).unref();
  }

  /** One after another; which secrets there are is asked of the system, which may be short of something right now. */
  function flush(isLast = false): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writing = writing
      .then(() => write(isLast))
      .catch((error: unknown) => options.log("output could not be recorded", { path, why: messageOf(error) }));
  }

  async function write(isLast: boolean): Promise<void> {
    if (pending === "" && redactor === null) return;
    const known = redactor === null ? await options.secrets() : null;
    const text = dropped === 0 ? pending : `${pending}\n[reeve: ${dropped} characters dropped in a flood]\n`;
    pending = "";
    dropped = 0;
    if (redactor === null && known === null)
      return options.log("output is not recorded: Reeve does not know which secrets it may show", { path });
    const header = redactor === null ? `[reeve ${options.since}: recording from here]\n` : "";
    redactor ??= createRedactor(known ?? []);
    const safe = header + redactor.push(text) + (isLast ? redactor.flush() : "");
    if (safe !== "") await append(safe);
  }

  async function append(text: string): Promise<void> {
    const bytes = await withOwnEnd(path, async ({ file, size }) => {
      await file.appendFile(text);
      return size + Buffer.byteLength(text);
    });
    if (bytes > options.mostBytes) await turnOver(path);
  }

  return {
    push(bytes) {
      const text = stripper.push(bytes);
      const room = MOST_PENDING_CHARACTERS - pending.length;
      pending += text.slice(0, room);
      dropped += Math.max(0, text.length - room);
      flushSoon();
    },
    async close() {
      flush(true);
      await writing;
    },
  };
}
