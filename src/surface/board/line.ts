/** Lines of styled text: cut, filled up, wrapped and put side by side by the columns they take. Pure. */
import { graphemesOf } from "../cli/graphemes.ts";
import type { TextRuler } from "../cli/text-ruler.ts";

export interface Span {
  readonly text: string;
  /** SGR parameters, such as "1;32"; none draws it as the terminal does. */
  readonly style?: string;
}

export type Line = readonly Span[];

export function span(text: string, style?: string): Span {
  return style === undefined || style === "" ? { text } : { text, style };
}

export function widthOf(line: Line, ruler: TextRuler): number {
  return line.reduce((sum, { text }) => sum + ruler.width(text), 0);
}

/** At most so many columns, with … where something was cut. */
export function cutLine(line: Line, columns: number, ruler: TextRuler): Line {
  if (widthOf(line, ruler) <= columns) return line;
  const kept: Span[] = [];
  let left = columns;
  for (const one of line) {
    const width = ruler.width(one.text);
    // The last one that fits must leave room for the sign that something follows.
    if (width < left) {
      kept.push(one);
      left -= width;
      continue;
    }
    const cut = ruler.cut(`${one.text}  `, left);
    return [...kept, { ...one, text: cut }];
  }
  return kept;
}

/** Exactly so many columns; what is added is drawn like the end of the line if `style` says so. */
export function fillLine(line: Line, columns: number, ruler: TextRuler, style?: string): Line {
  const cut = cutLine(line, columns, ruler);
  const missing = columns - widthOf(cut, ruler);
  return missing <= 0 ? cut : [...cut, span(" ".repeat(missing), style)];
}

/** Broken between words where that is possible. */
export function wrapLine(line: Line, columns: number, ruler: TextRuler): readonly Line[] {
  if (columns < 1 || widthOf(line, ruler) <= columns) return [line];
  const lines: Line[] = [];
  let current: Span[] = [];
  let used = 0;
  for (const { text, style } of line) {
    for (const word of text.match(/\s+|\S+/g) ?? []) {
      for (const piece of pieces(word, columns, ruler)) {
        const width = ruler.width(piece);
        if (used + width > columns && used > 0) {
          lines.push(current);
          current = [];
          used = 0;
          if (piece.trim() === "") continue;
        }
        current.push(span(piece, style));
        used += width;
      }
    }
  }
  return used > 0 ? [...lines, current] : lines;
}

function pieces(word: string, columns: number, ruler: TextRuler): readonly string[] {
  if (ruler.width(word) <= columns) return [word];
  const parts: string[] = [];
  let part = "";
  for (const { segment } of graphemesOf(word)) {
    if (part !== "" && ruler.width(part + segment) > columns) {
      parts.push(part);
      part = "";
    }
    part += segment;
  }
  return [...parts, part];
}
