/**
 * Removes secrets from terminal output and leaves its control sequences in
 * their places. The text without its sequences is what redaction looks at, so a
 * secret is found although colours or cursor movements separate its characters.
 * It looks at the text in two ways. In one, sequences count for nothing. In
 * the other, a movement of the cursor counts as a blank or a line break: a
 * token may begin after a gap that a program skipped instead of writing it.
 *
 * What may be the beginning of a secret is held back until more comes, however
 * long that takes, and then keeps the time at which it came. So a key that a
 * person types slowly is found, too.
 */
import { createTerminalSplitter, type TerminalPiece } from "../platform/terminal-pieces.ts";
import type { Redactor, SafePiece } from "./redaction.ts";

/** `note` is what was inserted: a size, a marker. */
export type Released<Note> =
  | { readonly at: number; readonly type: "text"; readonly text: string }
  | { readonly at: number; readonly type: "note"; readonly note: Note };

export interface TerminalRedaction<Note> {
  /** `at` is kept with what comes of it. */
  push(text: string, at: number): void;
  /** Keeps its place in the output; the time of what was held back before it does not change. */
  insert(note: Note, at: number): void;
  /** What may be written now. Redaction works on many pieces at once, so call it when there are some. */
  release(): readonly Released<Note>[];
  /** This is left out, and so is what was held back; only where a sequence goes on after it is kept in mind. */
  skip(text: string): void;
  /** Everything: nothing comes after it. */
  end(): readonly Released<Note>[];
}

/** What one push brought, or a part of it. */
interface Chunk {
  readonly type: "chunk";
  readonly at: number;
  /** Of its first character of text, counted since the beginning. */
  readonly from: number;
  /** Of its text, without sequences. */
  readonly length: number;
  readonly pieces: readonly TerminalPiece[];
  /** All of it. */
  readonly raw: string;
}

type Entry<Note> = Chunk | { readonly type: "note"; readonly at: number; readonly from: number; readonly note: Note };

/** So much is not held back with a beginning that nothing follows but sequences. */
const MOST_HELD_SEQUENCES = 65_536;

export function createTerminalRedaction<Note>(newRedactor: () => Redactor): TerminalRedaction<Note> {
  const splitter = createTerminalSplitter();
  const inStrings = newRedactor();
  let plain = createView(newRedactor());
  /** Only there while a movement of the cursor is in what is held back. */
  let moved: View | null = null;
  let entries: Entry<Note>[] = [];
  /** Characters of text that came and that were let go, since the beginning. */
  let length = 0;
  let released = 0;
  /** Of the entries, those that were there at the last release. */
  let held = 0;
  /** Since then: the text, and the same with what stands for movements. */
  let fresh: string[] = [];
  let freshMoved: string[] = [];
  let freshGaps: number[] = [];
  /** A carriage return came: a movement, unless it ends a line. */
  let isReturned = false;

  function takeText(text: string): void {
    if (isReturned && text.charCodeAt(0) !== LINE_FEED) takeGap(" ");
    isReturned = false;
    length += text.length;
    fresh.push(text);
    freshMoved.push(text);
  }

  function takeSequence(text: string): void {
    if (text === "\r") isReturned = true;
    else takeGap(gapOf(text));
  }

  function takeGap(gap: string): void {
    if (gap === "") return;
    freshMoved.push(gap);
    freshGaps.push(length);
  }

  /** Brings both views up to what was added. */
  function look(): void {
    const movedText = freshGaps.length > 0 || moved !== null ? freshMoved.join("") : "";
    if (moved === null && freshGaps.length > 0) {
      moved = createView(newRedactor(), released);
      moved.push(entries.slice(0, held).map(textOf).join("") + movedText, freshGaps);
    } else moved?.push(movedText, freshGaps);
    plain.push(fresh.join(""), []);
    fresh = [];
    freshMoved = [];
    freshGaps = [];
  }

  function take(): readonly Released<Note>[] {
    const until = Math.min(plain.released(), moved?.released() ?? Number.POSITIVE_INFINITY);
    const out = createOutput<Note>(united([...plain.hidden(), ...(moved?.hidden() ?? [])]));
    let taken = 0;
    for (const entry of entries) {
      if (entry.type === "note" ? entry.from > until : entry.from + entry.length > until) break;
      if (entry.type === "note") out.note(entry.at, entry.note);
      else out.chunk(entry);
      taken += 1;
    }
    const cut = entries[taken];
    if (cut?.type === "chunk") {
      const [before, after] = divided(cut, until);
      out.chunk(before);
      entries[taken] = after;
    }
    entries = entries.slice(taken);
    held = entries.length;
    released = until;
    plain.forget(until);
    moved?.forget(until);
    if (until === length) moved = null;
    return out.all;
  }

  function heldSequences(): number {
    let characters = 0;
    for (const entry of entries) if (entry.type === "chunk") characters += entry.raw.length - entry.length;
    return characters;
  }

  function settle(): void {
    plain.flush();
    moved?.flush();
  }

  return {
    push(text, at) {
      const before = splitter.unfinished;
      const split = splitter.push(text);
      const pieces = safePieces(split, INVISIBLE.test(text), inStrings);
      if (pieces.length === 0) return;
      const from = length;
      for (const piece of pieces) {
        if (piece.kind === "text") takeText(piece.text);
        else takeSequence(piece.text);
      }
      const after = splitter.unfinished;
      const isAsItCame = pieces === split && before !== null && after !== null;
      const raw = isAsItCame ? before + text.slice(0, text.length - after.length) : joined(pieces);
      entries.push({ type: "chunk", at, from, length: length - from, pieces, raw });
    },
    insert(note, at) {
      entries.push({ type: "note", at, from: length, note });
    },
    release() {
      look();
      const out = take();
      if (heldSequences() <= MOST_HELD_SEQUENCES) return out;
      settle();
      return [...out, ...take()];
    },
    skip(text) {
      splitter.push(text);
      if (entries.length === 0) return;
      entries = [];
      held = 0;
      released = length;
      plain = createView(newRedactor(), length);
      moved = null;
      [fresh, freshMoved, freshGaps, isReturned] = [[], [], [], false];
    },
    end() {
      look();
      settle();
      return take();
    },
  };
}

function textOf(entry: Entry<unknown>): string {
  if (entry.type === "note") return "";
  return entry.pieces.map(({ kind, text }) => (kind === "text" ? text : "")).join("");
}

function joined(pieces: readonly TerminalPiece[]): string {
  return pieces.map(({ text }) => text).join("");
}

/** What is before this place in the text, with the sequences there, and the rest. */
function divided(chunk: Chunk, until: number): readonly [Chunk, Chunk] {
  let position = chunk.from;
  const index = chunk.pieces.findIndex(({ kind, text }) => {
    if (kind === "text" && position + text.length > until) return true;
    if (kind === "text") position += text.length;
    return false;
  });
  const cut = chunk.pieces[index]?.text ?? "";
  const part = (pieces: readonly TerminalPiece[], from: number, length: number): Chunk => ({
    ...chunk,
    from,
    length,
    pieces,
    raw: joined(pieces),
  });
  const kept = cut.slice(0, Math.max(0, until - position));
  const before = [...chunk.pieces.slice(0, index), ...(kept === "" ? [] : [{ kind: "text", text: kept } as const])];
  const rest = { kind: "text", text: cut.slice(kept.length) } as const;
  const edge = position + kept.length;
  return [
    part(before, chunk.from, edge - chunk.from),
    part([rest, ...chunk.pieces.slice(index + 1)], edge, chunk.from + chunk.length - edge),
  ];
}

interface HiddenRange {
  readonly from: number;
  readonly until: number;
  readonly placeholder: string;
}

/** One way to look at the text. Positions are those in the text itself, without what stands for movements. */
interface View {
  push(text: string, gaps: readonly number[]): void;
  flush(): void;
  released(): number;
  hidden(): readonly HiddenRange[];
  forget(until: number): void;
}

function createView(redactor: Redactor, from = 0): View {
  let position = from;
  /** Before which character of the text a character stands that is not in it. */
  let gaps: number[] = [];
  let ranges: HiddenRange[] = [];

  function take(pieces: readonly SafePiece[]): void {
    let passed = 0;
    for (const { text, length, isHidden } of pieces) {
      const start = position;
      let left = length;
      while (left > 0) {
        const gap = gaps[passed];
        if (gap === undefined || left <= gap - position) {
          position += left;
          break;
        }
        left -= gap - position + 1;
        position = gap;
        passed += 1;
      }
      if (isHidden && position > start) ranges.push({ from: start, until: position, placeholder: text });
    }
    gaps = gaps.slice(passed);
  }

  return {
    push(text, more) {
      for (const gap of more) gaps.push(gap);
      take(redactor.pushPieces(text));
    },
    flush: () => take(redactor.flushPieces()),
    released: () => position,
    hidden: () => ranges,
    forget(until) {
      // Of one that is only partly written, the rest is hidden without saying so again.
      ranges = ranges.flatMap((range) => {
        if (range.until <= until) return [];
        return range.from >= until ? range : { from: until, until: range.until, placeholder: "" };
      });
    },
  };
}

function united(ranges: readonly HiddenRange[]): readonly HiddenRange[] {
  const apart: HiddenRange[] = [];
  for (const range of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = apart.at(-1);
    if (last === undefined || range.from >= last.until) apart.push(range);
    else {
      const until = Math.max(last.until, range.until);
      apart[apart.length - 1] = { from: last.from, until, placeholder: last.placeholder || range.placeholder };
    }
  }
  return apart;
}

/** Joins what has the same time. */
function createOutput<Note>(hidden: readonly HiddenRange[]) {
  const all: Released<Note>[] = [];
  let next = 0;

  function write(at: number, text: string): void {
    const last = all.at(-1);
    if (last?.type === "text" && last.at === at) all[all.length - 1] = { ...last, text: last.text + text };
    else if (text !== "") all.push({ at, type: "text", text });
  }

  function safe(from: number, text: string): string {
    const end = from + text.length;
    let position = from;
    let shown = "";
    for (let range = hidden[next]; range !== undefined && range.from < end; range = hidden[next]) {
      if (range.from >= position) shown += text.slice(position - from, range.from - from) + range.placeholder;
      position = Math.min(end, Math.max(position, range.until));
      if (range.until > end) break;
      next += 1;
    }
    return shown + text.slice(position - from);
  }

  return {
    all,
    note: (at: number, note: Note): void => void all.push({ at, type: "note", note }),
    chunk({ at, from, length, raw, pieces }: Chunk): void {
      if ((hidden[next]?.from ?? Number.POSITIVE_INFINITY) >= from + length) return write(at, raw);
      let position = from;
      let shown = "";
      for (const { kind, text } of pieces) {
        shown += kind === "text" ? safe(position, text) : text;
        if (kind === "text") position += text.length;
      }
      write(at, shown);
    },
  };
}

/** Characters of no width, which may stand between those of a secret without being seen. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/;
const INVISIBLE_RUN = /([\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+)/;

/** The same list where nothing in it is different. */
function safePieces(
  pieces: readonly TerminalPiece[],
  hasInvisible: boolean,
  redactor: Redactor,
): readonly TerminalPiece[] {
  if (!hasInvisible && !pieces.some(saysSomething)) return pieces;
  return pieces.flatMap((piece): readonly TerminalPiece[] => {
    if (piece.kind === "sequence") {
      const text = saysSomething(piece) ? safeSequence(piece.text, redactor) : piece.text;
      return text === "" ? [] : [{ kind: "sequence", text }];
    }
    // Every second part is what separates the others.
    const parts = piece.text.split(INVISIBLE_RUN);
    return parts.flatMap((text, index) => (text === "" ? [] : { kind: index % 2 === 0 ? "text" : "sequence", text }));
  });
}

const LINE_FEED = 0x0a;

/** It is an OSC, DCS, SOS, PM or APC. */
function saysSomething({ kind, text }: TerminalPiece): boolean {
  if (kind === "text") return false;
  const first = text.charCodeAt(0);
  if (first === 0x1b) return "]PX^_".includes(text[1] ?? " ");
  return first === 0x9d || first === 0x90 || first === 0x98 || first === 0x9e || first === 0x9f;
}

/** OSC, DCS, SOS, PM, APC: what introduces it, what it says, and what ends it. */
// oxlint-disable-next-line no-control-regex -- control sequences are what this is about
const STRING = /^(\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])([^]*?)(\u0007|\u001b\\|\u009c|[\u0018\u001a])?$/;

/** What a sequence says is redacted; one that sets the clipboard is left out, as its text is encoded. */
function safeSequence(sequence: string, redactor: Redactor): string {
  const [, introducer, said = "", end = ""] = STRING.exec(sequence) ?? [];
  if (introducer === undefined) return sequence;
  if ((introducer === "\u001b]" || introducer === "\u009d") && /^52(?:;|$)/.test(said)) return "";
  return introducer + redactor.push(said) + redactor.flush() + end;
}

/** What a movement of the cursor looks like to whoever reads the screen. */
function gapOf(sequence: string): "" | " " | "\n" {
  if (sequence === "\b") return " ";
  const isLong = sequence.startsWith("\u001b[") || sequence.startsWith("\u009b");
  if (!isLong) return LINE_MOVEMENTS.has(sequence) ? "\n" : "";
  const final = sequence[sequence.length - 1] ?? "";
  if ("ABEFHfdeST".includes(final)) return "\n";
  return "CGa`".includes(final) ? " " : "";
}

/** IND, NEL and RI, in either form. */
const LINE_MOVEMENTS = new Set(["\u001bD", "\u001bE", "\u001bM", "\u0084", "\u0085", "\u008d"]);
