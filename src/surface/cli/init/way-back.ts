/**
 * How the bytes of a file before a change are made from those after it: a list
 * of pieces, each a place in the file as it is now, or text that it does not
 * hold. Agents write a whole file anew, often with other gaps and line ends, so
 * mostly the text is gaps: what the file says is not written down a second time.
 * Pure.
 *
 * A piece is `[start, length]` in bytes, or a string with a letter for each byte.
 */
export type Piece = readonly [start: number, length: number] | string;

/** A string, a word, a gap, or any other byte. */
const PIECE = /"(?:\\.|[^"\\\r\n])*"|[\w.-]+|[ \t\r\n]+|[^]/g;
const GAP = /^[ \t\r\n]/;

export function wayBack(before: Buffer, after: Buffer): readonly Piece[] {
  const from = after.toString("latin1");
  const pieces: Piece[] = [];
  let next = 0;
  for (const [text] of before.toString("latin1").matchAll(PIECE)) {
    const at = placeOf(text, from, next);
    const last = pieces.at(-1);
    if (at === -1) {
      if (typeof last === "string") pieces[pieces.length - 1] = last + text;
      else pieces.push(text);
      continue;
    }
    next = at + text.length;
    if (typeof last === "object" && last[0] + last[1] === at)
      pieces[pieces.length - 1] = [last[0], last[1] + text.length];
    else pieces.push([at, text.length]);
  }
  return pieces;
}

/** Where the same text goes on, comes next, or stands at all. A gap is not looked for elsewhere: there is one anywhere. */
function placeOf(text: string, from: string, next: number): number {
  if (from.startsWith(text, next)) return next;
  if (GAP.test(text)) return -1;
  const ahead = from.indexOf(text, next);
  return ahead === -1 ? from.indexOf(text) : ahead;
}

export function wentBack(pieces: readonly Piece[], after: Buffer): Buffer {
  return Buffer.concat(
    pieces.map((piece) =>
      typeof piece === "string" ? Buffer.from(piece, "latin1") : after.subarray(piece[0], piece[0] + piece[1]),
    ),
  );
}
