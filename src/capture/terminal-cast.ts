/**
 * Records a session's terminal in its own directory: `terminal.cast`, and
 * `terminal.cast.1` for what came before. Each file plays by itself: a new one
 * begins with the whole screen. Secrets are removed before anything is written
 * (terminal-redaction.ts). What comes is only put on a list; everything else
 * happens a moment later, for all of it at once.
 *
 * If too much waits, or it cannot be written, output is left out until the
 * whole screen comes again. A marker says so, and the session goes on.
 */
import type { Clock } from "../platform/clock.ts";
import type { CastEvent } from "./asciicast.ts";
import { type CastSize, createCastFile } from "./cast-file.ts";
import type { Redactor } from "./redaction.ts";
import { createTerminalRedaction, type Released, type TerminalRedaction } from "./terminal-redaction.ts";

export interface TerminalCast {
  push(event: CastInput): void;
  /** Writes what is left; nothing is taken any more. */
  close(): Promise<void>;
}

/** What a runtime tells whoever follows a terminal. */
export type CastInput =
  | { readonly type: "bytes"; readonly bytes: Buffer }
  | { readonly type: "snapshot"; readonly bytes: Buffer; readonly size: CastSize }
  | { readonly type: "resized"; readonly size: CastSize };

export interface TerminalCastOptions {
  readonly directory: string;
  readonly title: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Of one file; there may be two. */
  readonly mostBytes: number;
  readonly clock: Clock;
  /** Told of every failure, and of the first success after one or at all (null). */
  readonly told: (failure: unknown) => void;
  /** Which process of the session it is. */
  readonly start: number;
  /** It was there before anybody listened, so its screen is asked for. */
  readonly isAdopted: boolean;
  /** Asked when there is something to write; null: its secrets are not known, so nothing may be written. */
  readonly newRedactor: () => Promise<(() => Redactor) | null>;
  /** Asks for the whole screen, which comes as a snapshot. */
  readonly repaint: () => void;
  /** Whoever wrote the file before is done with it. */
  readonly after?: Promise<void> | undefined;
}

/** Output is gathered this long before it is written: one write for a burst. */
const FLUSH_MS = 200;
/** So much is written at once, so that little waits. */
const FLUSH_BYTES = 262_144;
/** More than this waits only if the disk is slower than the terminal. */
const MOST_WAITING_BYTES = 4_194_304;
/** A disk that was full is tried again. */
const RETRY_MS = 5_000;
/** It is told within milliseconds. */
const LONGEST_WITHOUT_SIZE_MS = 2_000;
/** Of one whose runtime does not tell it. */
const USUAL_SIZE: CastSize = { columns: 80, rows: 24 };
/** As a new terminal is. */
const RESET = "\u001bc";

type Note =
  | { readonly type: "resized"; readonly size: CastSize }
  | { readonly type: "snapshot"; readonly text: string; readonly size: CastSize }
  | { readonly type: "marker"; readonly text: string };

/** `lost`: so much was left out here, because too much waited. */
type Waiting = { readonly at: number } & (CastInput | { readonly type: "lost"; readonly bytes: number });

interface Ready extends CastEvent {
  readonly isSnapshot: boolean;
  /** Of the terminal, at that time. */
  readonly size: CastSize | null;
}

/** Output that is left out until the next snapshot. */
interface Gap {
  /** Empty: there is nothing to say about it. */
  readonly why: string;
  readonly bytes: number;
}

export function openTerminalCast(options: TerminalCastOptions): TerminalCast {
  const { clock } = options;
  const file = createCastFile({ ...options, onReopened });
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let redacting: { readonly stream: TerminalRedaction<Note>; readonly newRedactor: () => Redactor } | null = null;
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let lostBytes = 0;
  let ready: Ready[] = [];
  let size: CastSize | null = null;
  /** The one that was told first counts for what came before it. */
  let firstSize: CastSize | null = null;
  let gap: Gap | null = options.isAdopted ? { why: "", bytes: 0 } : null;
  let isSound = false;
  let hasFile = false;
  let isTurning = false;
  let isFlushing = false;
  let isClosed = false;
  let cancelFlush: (() => void) | null = null;
  let cancelRetry: (() => void) | null = null;
  let cancelSizeWait: (() => void) | null = null;
  let work: Promise<void> = options.after ?? Promise.resolve();
  if (options.isAdopted) askAgain();

  function onReopened(gapMs: number): readonly Omit<CastEvent, "at">[] {
    const now = size ?? firstSize;
    const resized = now === null ? [] : [{ code: "r" as const, data: sizeText(now) }];
    if (options.isAdopted)
      return [{ code: "m", data: `not recorded for ${Math.round(gapMs / 1_000)} s: Reeve did not run` }, ...resized];
    return [{ code: "m", data: `start ${options.start}` }, ...resized, { code: "o", data: RESET }];
  }

  function flushSoon(): void {
    if (isFlushing || isClosed) return;
    if (waitingBytes >= FLUSH_BYTES) flush();
    else cancelFlush ??= clock.after(FLUSH_MS, flush);
  }

  function flush(): void {
    cancelFlush?.();
    cancelFlush = null;
    isFlushing = true;
    work = work
      .then(() => writeWaiting(false))
      .catch(failed)
      .finally(() => {
        isFlushing = false;
        if (lostBytes > 0) askAgain();
        if (waiting.length > 0) flushSoon();
      });
  }

  async function writeWaiting(isLast: boolean): Promise<void> {
    const batch = waiting;
    waiting = [];
    waitingBytes = 0;
    const { stream, newRedactor } = (redacting ??= await beginRedacting());
    for (const piece of batch) take(piece, stream, newRedactor);
    if (isLast && gap !== null && gap.bytes > 0)
      stream.insert({ type: "marker", text: gapText(gap) }, clock.monotonic());
    for (const released of isLast ? stream.end() : stream.release()) makeReady(released);
    await writeReady(isLast);
  }

  async function beginRedacting(): Promise<NonNullable<typeof redacting>> {
    const newRedactor = await options.newRedactor();
    if (newRedactor === null) throw new Error("Reeve does not know which secrets it may show");
    return { stream: createTerminalRedaction<Note>(newRedactor), newRedactor };
  }

  function take(piece: Waiting, stream: TerminalRedaction<Note>, newRedactor: () => Redactor): void {
    switch (piece.type) {
      case "bytes": {
        const text = decoder.decode(piece.bytes, { stream: true });
        if (gap === null) return stream.push(text, piece.at);
        gap = { ...gap, bytes: gap.bytes + piece.bytes.length };
        return stream.skip(text);
      }
      case "lost":
        gap = {
          why: gap?.why || "output came faster than it could be written",
          bytes: (gap?.bytes ?? 0) + piece.bytes,
        };
        return;
      case "resized":
        firstSize ??= piece.size;
        return stream.insert(piece, piece.at);
      case "snapshot": {
        firstSize ??= piece.size;
        if (gap !== null && gap.why !== "") stream.insert({ type: "marker", text: gapText(gap) }, piece.at);
        gap = null;
        const text = redactWhole(piece.bytes.toString("utf8"), newRedactor);
        return stream.insert({ type: "snapshot", text, size: piece.size }, piece.at);
      }
    }
  }

  function makeReady(released: Released<Note>): void {
    const { at } = released;
    const add = (code: CastEvent["code"], data: string, isSnapshot = false): void =>
      void ready.push({ at, code, data, isSnapshot, size });
    if (released.type === "text") return add("o", released.text);
    const { note } = released;
    if (note.type === "marker") return add("m", note.text);
    const isOther = size !== null && sizeText(size) !== sizeText(note.size);
    size = note.size;
    if (isOther) add("r", sizeText(size));
    if (note.type === "snapshot") add("o", note.text, true);
  }

  /** Nothing is written before the size is known: it is in the first line. */
  async function writeReady(isLast: boolean): Promise<void> {
    const [first] = ready;
    if (first === undefined) return;
    const waitedMs = clock.monotonic() - first.at;
    if (firstSize === null && !isLast && waitedMs < LONGEST_WITHOUT_SIZE_MS) {
      // Perhaps nothing more comes.
      cancelSizeWait ??= clock.after(LONGEST_WITHOUT_SIZE_MS - waitedMs, () => {
        cancelSizeWait = null;
        flush();
      });
      return;
    }
    const events = ready;
    ready = [];
    const turnAt = isTurning ? events.findIndex(({ isSnapshot }) => isSnapshot) : -1;
    if (turnAt < 0) return write(events);
    await write(events.slice(0, turnAt));
    await turnFile();
    await write(events.slice(turnAt));
  }

  async function write(events: readonly Ready[]): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    const { bytes, isNew } = await file.write(events, first.size ?? firstSize ?? USUAL_SIZE);
    if (!isSound) options.told(null);
    isSound = true;
    // Somebody removed the file, so the new one does not begin with the screen.
    if (isNew && hasFile) options.repaint();
    hasFile = true;
    if (bytes <= options.mostBytes) return;
    if (bytes > 2 * options.mostBytes) await turnFile();
    else if (isTurning) return;
    else isTurning = true;
    options.repaint();
  }

  async function turnFile(): Promise<void> {
    isTurning = false;
    hasFile = false;
    await file.turnOver();
  }

  function failed(error: unknown): void {
    isSound = false;
    options.told(error);
    ready = [];
    redacting?.stream.skip("");
    gap = { why: "it could not be written", bytes: gap?.bytes ?? 0 };
    askLater();
  }

  /** Until the screen came: it may not be shown right now. */
  function askAgain(): void {
    options.repaint();
    askLater();
  }

  function askLater(): void {
    if (isClosed) return;
    cancelRetry ??= clock.after(RETRY_MS, () => {
      cancelRetry = null;
      if (gap !== null || lostBytes > 0) askAgain();
    });
  }

  function add(piece: Waiting, bytes: number): void {
    waiting.push(piece);
    waitingBytes += bytes;
  }

  function admitLoss(at: number): void {
    if (lostBytes > 0) waiting.push({ at, type: "lost", bytes: lostBytes });
    lostBytes = 0;
  }

  return {
    push(input) {
      if (isClosed) return;
      const at = clock.monotonic();
      if (input.type === "resized") add({ at, ...input }, 0);
      else {
        const { length } = input.bytes;
        const isTooMuch = waitingBytes + length > MOST_WAITING_BYTES;
        if (isTooMuch || (lostBytes > 0 && input.type === "bytes")) return void (lostBytes += length);
        admitLoss(at);
        add({ at, ...input }, length);
      }
      flushSoon();
    },
    async close() {
      if (isClosed) return work;
      isClosed = true;
      cancelFlush?.();
      cancelRetry?.();
      cancelSizeWait?.();
      admitLoss(clock.monotonic());
      work = work.then(() => writeWaiting(true)).catch(failed);
      await work;
    },
  };
}

function redactWhole(text: string, newRedactor: () => Redactor): string {
  const redaction = createTerminalRedaction<never>(newRedactor);
  redaction.push(text, 0);
  return redaction
    .end()
    .map((piece) => (piece.type === "text" ? piece.text : ""))
    .join("");
}

function sizeText({ columns, rows }: CastSize): string {
  return `${columns}x${rows}`;
}

function gapText({ why, bytes }: Gap): string {
  return `${bytes} bytes not recorded${why === "" ? "" : `: ${why}`}`;
}
