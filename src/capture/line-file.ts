/**
 * Appends lines to one file of a session's directory without ever holding up
 * whoever writes them. What cannot be written yet waits, up to a bound; what is
 * beyond it is dropped, and `lost` makes the line that says so. A full file
 * becomes `<path>.1`, in the place of the one before.
 *
 * When writing fails, the outage is told once. It tries again every second, and
 * makes the directory and the file again where they are gone. A line that was
 * written in part is ended with a line break, and written again as a whole.
 *
 * The path may be in the reach of an agent: no link is followed, and what is
 * no file of ours is moved aside.
 */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { clearTheWay, clearTheWayForDirectory } from "../platform/own-file.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { appendBytes, endCutLine, type OwnEnd, turnOver, withOwnEnd } from "./own-end.ts";

export interface LineFile {
  /**
   * Without its line break. One that frames others (`head`, `end`), and is short, is kept where those are dropped. An
   * `end` is written at once, with what waits before it: more may not come for long, and a crash would lose it.
   */
  push(line: string, frame?: "head" | "end"): void;
  /** Counts what its owner dropped before it became a line. */
  drop(bytes: number): void;
  /** Characters that wait to be written. */
  readonly waiting: number;
  readonly outage: string | null;
  readonly droppedLines: number;
  /** Writes what it can; what cannot be written is lost. */
  close(): Promise<void>;
}

export interface LineFileOptions {
  readonly path: string;
  /** Of the file and the one before it, together. */
  readonly mostBytes: number;
  /** Makes the line that takes the place of what was lost. */
  lost(lost: Lost): string;
  /** Before a file is put in the place of an older one: how many lines that one holds. */
  linesOf(path: string): number;
  told: {
    failed(why: string): void;
    resumed(droppedLines: number): void;
  };
}

export interface Lost {
  readonly lines: number;
  readonly bytes: number;
}

/** Lines are gathered this long before they are written: soon enough to follow with tail -f. */
const FLUSH_MS = 200;
/** So much is written at once, and at once when so much waits. */
const BATCH_CHARACTERS = 1_048_576;
const RETRY_MS = 1_000;
/** More than this is dropped. */
export const MOST_WAITING = 8 * 1_048_576;
/** Beside it, for lines that frame others. */
const MOST_FRAMES = 1_048_576;

export function openLineFile(options: LineFileOptions): LineFile {
  const { path } = options;
  const queue: string[] = [];
  let waiting = 0;
  let lost: Lost = { lines: 0, bytes: 0 };
  let droppedLines = 0;
  let outage: string | null = null;
  /** The file may end within a line: it was not looked at yet, or a write was cut. */
  let mayBeCut = true;
  let hadDirectory = false;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let writing: Promise<void> | null = null;

  function flushIn(ms: number): void {
    if (timer !== null || writing !== null || isClosed) return;
    timer = setTimeout(() => {
      timer = null;
      flush();
    }, ms);
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writing ??= writeAll().finally(() => {
      writing = null;
      if (queue.length > 0 || lost.lines > 0) flushIn(outage === null ? FLUSH_MS : RETRY_MS);
    });
  }

  async function writeAll(): Promise<void> {
    try {
      while (queue.length > 0 || lost.lines > 0) await writeBatch();
      if (outage === null) return;
      outage = null;
      options.told.resumed(droppedLines);
    } catch (error) {
      fail(messageOf(error));
    }
  }

  function fail(why: string): void {
    if (outage === null) options.told.failed(why);
    outage = why;
  }

  async function writeBatch(): Promise<void> {
    noteLost();
    makeDirectory();
    const size = await withOwnEnd(path, async (end) => {
      if (mayBeCut) await endCutLine(end);
      mayBeCut = false;
      return end.size + (await writeLines(end));
    });
    if (size * 2 > options.mostBytes) await beginAnew();
  }

  /** Removes from the queue what is in the file, also when it fails half-way. */
  async function writeLines(end: OwnEnd): Promise<number> {
    let count = 0;
    let characters = 0;
    while (count < queue.length && (count === 0 || characters < BATCH_CHARACTERS)) {
      characters += queue[count]?.length ?? 0;
      count += 1;
    }
    const batch = queue.slice(0, count).map((line) => Buffer.from(`${line}\n`));
    const bytes = Buffer.concat(batch);
    let written = 0;
    try {
      await appendBytes(end, bytes, (more) => (written += more));
    } finally {
      let [whole, length] = [0, 0];
      while (whole < count && length + (batch[whole]?.length ?? 0) <= written) {
        length += batch[whole]?.length ?? 0;
        whole += 1;
      }
      for (const line of queue.splice(0, whole)) waiting -= line.length;
      if (written > length) mayBeCut = true;
    }
    return bytes.length;
  }

  function makeDirectory(): void {
    const directory = dirname(path);
    clearTheWayForDirectory(directory);
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) {
      if (hadDirectory) fail(`${directory} was removed`);
      ensurePrivateDir(directory);
      mayBeCut = true;
    }
    hadDirectory = true;
  }

  async function beginAnew(): Promise<void> {
    const older = `${path}.1`;
    clearTheWay(older);
    const about = lstatSync(older, { throwIfNoEntry: false });
    if (about !== undefined) add(options.linesOf(older), about.size);
    await turnOver(path);
    mayBeCut = true;
  }

  function add(lines: number, bytes: number): void {
    lost = { lines: lost.lines + lines, bytes: lost.bytes + bytes };
    droppedLines += lines;
  }

  /** It stands behind the lines that were there before it, and is never dropped itself. */
  function noteLost(): void {
    if (lost.lines === 0) return;
    const line = options.lost(lost);
    lost = { lines: 0, bytes: 0 };
    queue.push(line);
    waiting += line.length;
  }

  return {
    push(line, frame) {
      if (isClosed) return;
      if (waiting + line.length > MOST_WAITING + (frame === undefined ? 0 : MOST_FRAMES)) return add(1, line.length);
      noteLost();
      queue.push(line);
      waiting += line.length;
      if ((waiting >= BATCH_CHARACTERS || frame === "end") && outage === null) flush();
      else flushIn(outage === null ? FLUSH_MS : RETRY_MS);
    },
    drop(bytes) {
      add(1, bytes);
      flushIn(outage === null ? FLUSH_MS : RETRY_MS);
    },
    get waiting() {
      return waiting;
    },
    get outage() {
      return outage;
    },
    get droppedLines() {
      return droppedLines;
    },
    async close() {
      isClosed = true;
      if (writing !== null) await writing;
      flush();
      await writing;
    },
  };
}
