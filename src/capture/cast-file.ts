/**
 * `terminal.cast` on the disk. Knows where its time began: a new file begins at
 * its first event, and one that is there goes on after its last, by as much wall
 * time as has passed since it was written. Whatever a crash or a full disk cut
 * off at its end is removed first, so the file can be played at any time.
 */
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import { setAside } from "../platform/own-file.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { RECORDING } from "../session/session-directory.ts";
import {
  type CastEvent,
  eventLines,
  HEADER_BEGINNING,
  headerLine,
  isHeader,
  lastSeconds,
  LONGEST_LINE,
} from "./asciicast.ts";
import { type OwnEnd, turnOver, withOwnEnd } from "./own-end.ts";

export interface CastFile {
  readonly path: string;
  /** All of them, or it throws; then some may be there. */
  write(events: readonly CastEvent[], size: CastSize): Promise<Written>;
  /** What is written next begins a new file. */
  turnOver(): Promise<void>;
}

export interface CastSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Written {
  readonly bytes: number;
  /** It began a new file. */
  readonly isNew: boolean;
}

export function createCastFile(options: {
  readonly directory: string;
  readonly title: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** What is put before the first events where a file is there already, `gapMs` after it was last written. */
  readonly onReopened: (gapMs: number) => readonly Omit<CastEvent, "at">[];
}): CastFile {
  const { clock } = options;
  const path = join(options.directory, RECORDING);
  /** When its time began, on the monotonic clock; null: it was not looked at yet. */
  let beganAt: number | null = null;
  let lastWritten = 0;
  let mayBeTorn = true;

  const wallOf = (at: number): number => clock.now() - (clock.monotonic() - at);

  function linesOf(events: readonly CastEvent[], began: number): string {
    let lines = "";
    for (const event of events) {
      lastWritten = Math.max(lastWritten, (event.at - began) / 1_000);
      lines += eventLines(lastWritten, event);
    }
    return lines;
  }

  /** The last whole lines; what is behind them is cut off. Null: there is no recording in it. */
  async function wholeLines({
    file,
    size,
  }: OwnEnd): Promise<{ readonly lines: string[]; readonly size: number } | null> {
    const head = await read(file, 0, Math.min(size, LONGEST_LINE));
    const headEnd = head.indexOf(0x0a);
    if (headEnd < 0 && head.toString("latin1").startsWith(HEADER_BEGINNING)) {
      await file.truncate(0);
      return { lines: [], size: 0 };
    }
    if (headEnd < 0 || !isHeader(head.toString("utf8", 0, headEnd))) return null;
    const from = Math.max(0, size - 2 * LONGEST_LINE);
    const tail = await read(file, from, size - from);
    const whole = tail.lastIndexOf(0x0a) + 1;
    if (from + whole < size) await file.truncate(from + whole);
    return { lines: tail.toString("utf8", 0, whole).split("\n").slice(0, -1), size: from + whole };
  }

  async function append(end: OwnEnd, events: readonly CastEvent[], size: CastSize): Promise<Written | null> {
    const at = events[0]?.at ?? clock.monotonic();
    let text = "";
    let before = end.size;
    if (before > 0 && mayBeTorn) {
      const found = await wholeLines(end);
      if (found === null) return null;
      before = found.size;
      if (beganAt === null && before > 0) {
        const gapMs = Math.max(0, wallOf(at) - end.modifiedMs);
        lastWritten = lastSeconds(found.lines);
        beganAt = at - gapMs - lastWritten * 1_000;
        text += linesOf(
          options.onReopened(gapMs).map((event) => ({ at, ...event })),
          beganAt,
        );
      }
    }
    const isNew = before === 0 || beganAt === null;
    if (isNew) {
      beganAt = at;
      lastWritten = 0;
      text += headerLine({ ...size, beganAt: wallOf(at), title: options.title, environment: options.environment });
    }
    text += linesOf(events, beganAt ?? at);
    mayBeTorn = true;
    await end.file.appendFile(text);
    mayBeTorn = false;
    return { bytes: before + Buffer.byteLength(text), isNew };
  }

  return {
    path,
    async write(events, size) {
      ensurePrivateDir(dirname(path));
      const written = await withOwnEnd(path, (end) => append(end, events, size));
      if (written !== null) return written;
      // What somebody else put there.
      setAside(path);
      return (await withOwnEnd(path, (end) => append(end, events, size))) ?? { bytes: 0, isNew: true };
    },
    async turnOver() {
      await turnOver(path);
      beganAt = null;
      mayBeTorn = true;
    },
  };
}

async function read(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}
