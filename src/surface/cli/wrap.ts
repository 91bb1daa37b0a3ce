/** Text in lines that fit a terminal, broken between words; a word that is too long stays whole. */
import { asciiRuler } from "./text-ruler.ts";
import type { TextRuler } from "./text-ruler.ts";

export interface Margin {
  /** Before the first line. */
  readonly first: string;
  /** Before each line after it; as wide as `first`, or it will look odd. */
  readonly next: string;
}

/** Narrower than this, breaking makes it worse. */
const LEAST_COLUMNS = 20;

/** One line end at the end of each line; `width: null` breaks nothing. */
export function wrapped(text: string, margin: Margin, width: number | null, ruler: TextRuler): string {
  const room = width === null ? Infinity : Math.max(LEAST_COLUMNS, width - ruler.width(margin.next));
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && ruler.width(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  lines.push(line);
  return lines.map((one, index) => `${index === 0 ? margin.first : margin.next}${one}\n`).join("");
}

/** Whole lines of sentences; what goes on below an indented line is indented a little more. Nothing may be painted in it. */
export function inWords(text: string, width: number): string {
  return text.replaceAll(/^( *)(.+)\n/gm, (line, indent: string, sentence: string) => {
    if (line.length <= width) return line;
    return wrapped(sentence, { first: indent, next: indent === "" ? "" : `${indent}  ` }, width, asciiRuler);
  });
}
