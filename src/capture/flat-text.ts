/**
 * Undoes the wrapping of a text: joins its lines, without the blanks and the
 * frame at their edges. Terminals wrap a word at their last column, and dialogs
 * inside a frame of their own.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** It is the continuation, on another line, of the span before it. */
  readonly goesOn?: boolean;
}

export interface FlatText {
  readonly text: string;
  /** Positions at which a line begins, but the first. */
  readonly joints: ReadonlySet<number>;
  /** Those at which a line may have been wrapped: the one before reaches at least as far to the right. */
  readonly wraps: ReadonlySet<number>;
  /** Where a position of the flat text is in the text it was made of. */
  at(position: number): number;
  /** A span of the flat text, as its parts on each line. */
  partsOf(span: Span): readonly Span[];
}

interface Piece {
  /** In the flat text. */
  readonly from: number;
  /** In the text itself. */
  readonly start: number;
  readonly end: number;
}

/** `lead` is how many characters of its first line came before the text. */
export function flatten(text: string, lead = 0): FlatText {
  const pieces: Piece[] = [];
  let flat = "";
  let lineStart = 0;
  const isWrapped = text.includes("\n");
  const wraps = new Set<number>();
  let reachBefore = 0;
  while (lineStart <= text.length) {
    const newline = text.indexOf("\n", lineStart);
    const lineEnd = newline === -1 ? text.length : newline;
    let [start, end] = [lineStart, lineEnd];
    // The edges of the whole text are no line's edges: what comes before and after is not known.
    if (isWrapped && lineStart > 0) while (start < end && isEdge(text.charCodeAt(start))) start += 1;
    if (isWrapped && newline !== -1) while (end > start && isEdge(text.charCodeAt(end - 1))) end -= 1;
    // Of the text's last line the end is not trimmed: its blanks are not what is compared.
    const reach = lengthBeforeEdge(text.slice(lineStart, end)) + (lineStart === 0 ? lead : 0);
    if (lineStart > 0 && reach <= reachBefore && end > start) wraps.add(flat.length);
    reachBefore = reach;
    pieces.push({ from: flat.length, start, end });
    flat += text.slice(start, end);
    lineStart = lineEnd + 1;
  }
  return flatTextOf(text, flat, pieces, wraps);
}

const SOLID = /[^\n\t |\u00a0\u2500-\u259f]+/g;

/** A text without any blank, line break or frame: where a phrase was wrapped between two words, its blank is gone. */
export function squeeze(text: string): FlatText {
  const pieces: Piece[] = [];
  let flat = "";
  for (const { 0: solid, index } of text.matchAll(SOLID)) {
    pieces.push({ from: flat.length, start: index, end: index + solid.length });
    flat += solid;
  }
  return flatTextOf(text, flat, pieces, new Set());
}

function flatTextOf(text: string, flat: string, pieces: readonly Piece[], wraps: ReadonlySet<number>): FlatText {
  /** The last piece that begins at or before this position. */
  function pieceAt(position: number): number {
    let [low, high] = [0, pieces.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((pieces[middle]?.from ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  return {
    text: flat,
    wraps,
    joints: new Set(pieces.slice(1).map(({ from }) => from)),
    at(position) {
      if (position >= flat.length) return text.length;
      const { from, start } = pieces[pieceAt(position)] ?? { from: 0, start: 0 };
      return start + position - from;
    },
    partsOf(span) {
      const parts: { start: number; end: number; goesOn?: boolean }[] = [];
      for (let index = pieceAt(span.start); index < pieces.length; index += 1) {
        const { from, start, end } = pieces[index] ?? { from: 0, start: 0, end: 0 };
        if (from >= span.end) break;
        const part = { start: start + Math.max(0, span.start - from), end: Math.min(end, start + span.end - from) };
        if (part.end <= part.start) continue;
        const last = parts.at(-1);
        if (last === undefined) parts.push(part);
        else if (text.slice(last.end, part.start).includes("\n")) parts.push({ ...part, goesOn: true });
        else last.end = part.end;
      }
      return parts;
    },
  };
}

/** Without the blanks at its end, which may turn out to be a line's. */
export function lengthBeforeEdge(text: string): number {
  let end = text.length;
  while (end > 0 && isEdge(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/** Blanks, and what frames are drawn with: │ ┃ ║ ╎ ▌ | and the like. */
function isEdge(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x7c || code === 0xa0 || (code >= 0x2500 && code <= 0x259f);
}
