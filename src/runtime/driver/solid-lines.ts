/**
 * A captured screen without faint text, and with its cursor. This distinguishes
 * a placeholder from text that somebody typed. `capture-pane -e` says in SGR
 * sequences how each run of text is drawn, and carries on from line to line.
 */
import { dropHidden } from "../../platform/hidden-characters.ts";
import { stripControls } from "../../platform/terminal-text.ts";
import { CURSOR, HIDDEN_CURSOR } from "../contract.ts";

export interface Cursor {
  readonly column: number;
  readonly row: number;
  /** Programs that draw a cursor of their own hide the terminal's, and mostly still put it where theirs is. */
  readonly isVisible: boolean;
}

export function solidLines(raw: readonly string[], cursor: Cursor): readonly string[] {
  let isFaint = false;
  return raw.map((line, row) => {
    let solid = "";
    let end = 0;
    const add = (text: string): void => {
      // They take no column, and the cursor is counted in columns.
      const plain = dropHidden(stripControls(text));
      solid += isFaint ? plain.replaceAll(FAINT, " ") : plain;
    };
    for (const sequence of line.matchAll(SGR)) {
      add(line.slice(end, sequence.index));
      isFaint = faintAfter(sequence[1] ?? "", isFaint);
      end = sequence.index + sequence[0].length;
    }
    add(line.slice(end));
    return (row === cursor.row ? withCursor(solid, cursor) : solid).trimEnd();
  });
}

/** Frames are often drawn faint and are no text. */
const FAINT = /[^\s\u2500-\u259f]/gu;

// oxlint-disable-next-line no-control-regex -- it is an escape sequence that is looked for
const SGR = /\u001b\[([0-9;:]*)m/g;

function faintAfter(parameters: string, before: boolean): boolean {
  const codes = parameters.split(";");
  let isFaint = before;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? "";
    if (code === "" || code === "0" || code === "22") isFaint = false;
    else if (code === "2") isFaint = true;
    // A colour's own numbers follow: 38;5;n or 38;2;r;g;b.
    else if (code === "38" || code === "48" || code === "58") at += codes[at + 1] === "5" ? 2 : 4;
  }
  return isFaint;
}

/** Where the line holds wide characters before it, a few columns off: nobody measures by it there. */
function withCursor(line: string, { column, isVisible }: Cursor): string {
  return `${line.slice(0, column).padEnd(column)}${isVisible ? CURSOR : HIDDEN_CURSOR}${line.slice(column)}`;
}
