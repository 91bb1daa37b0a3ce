/** Rows of a captured screen as what is to be drawn: pieces of text, each at its column, in one pen. */
import stringWidth from "string-width";
import { runsOf } from "../../src/platform/terminal-style.ts";
import type { Pen } from "./pen.ts";
import { PLAIN, penAfter } from "./pen.ts";

export interface Piece {
  readonly column: number;
  readonly columns: number;
  readonly text: string;
  readonly pen: Pen;
}

/** `lines` as `tmux capture-pane -e` prints them: a pen goes on in the next line. */
export function drawnRows(lines: readonly string[]): readonly (readonly Piece[])[] {
  let pen = PLAIN;
  return lines.map((line) => {
    const pieces: Piece[] = [];
    let column = 0;
    for (const { style, plain } of runsOf(line)) {
      if (style !== null) pen = penAfter(style, pen);
      const columns = stringWidth(plain);
      if (columns > 0) pieces.push({ column, columns, text: plain, pen });
      column += columns;
    }
    return pieces.filter((piece) => !isInvisible(piece));
  });
}

function isInvisible({ text, pen }: Piece): boolean {
  return text.trim() === "" && pen.ground === null && !pen.isReversed && !pen.isUnderlined && !pen.isStruck;
}
