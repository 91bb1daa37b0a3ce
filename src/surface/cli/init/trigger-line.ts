/**
 * The one line in `.codex/CODEX.md`, put in and taken out byte for byte. Every
 * other byte stays as it is, so taking out the line, with its own line end if it
 * has one, gives back what was there. Pure; works on bytes, because a file of
 * the user need not be UTF-8.
 *
 * Where it goes: to the end of a file that ends with a line end. A file without
 * one gets it as its first line (behind front matter or a byte order mark, before
 * the last line), because a line behind the last one would change that one as well.
 */
import { TRIGGER_LINE } from "./restart-card-text.ts";

const LINE = Buffer.from(TRIGGER_LINE);
const LF = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface LineEnds {
  /** Git keeps carriage returns in this file and would report another one as trailing whitespace. */
  readonly isReturnReported: boolean;
}

/** `before`: null where there is no file. */
export function withTrigger(before: Buffer | null, { isReturnReported }: LineEnds): Buffer {
  if (before === null) return Buffer.concat([LINE, Buffer.from("\n")]);
  if (before.length === 0) return LINE;
  const end = Buffer.from(hasReturns(before) ? "\r\n" : "\n");
  if (before.at(-1) === LF)
    return Buffer.concat([before, LINE, ...(isReturnReported && end.length === 2 ? [] : [end])]);
  const at = placeInUnended(before);
  return Buffer.concat([before.subarray(0, at), LINE, end, before.subarray(at)]);
}

/** Null: there was no such file before the line was put into it. */
export function withoutTrigger(after: Buffer): Buffer | null {
  const found = linesOf(after).findLast(({ text }) => text.equals(LINE));
  if (found === undefined) return after;
  if (found.start === 0 && found.next === after.length && found.next > found.end) return null;
  return Buffer.concat([after.subarray(0, found.start), after.subarray(found.next)]);
}

/** absent, our own line as it is, or a line of the user's that points to the card. */
export function triggerIn(content: Buffer): "absent" | "ours" | "theirs" {
  const lines = linesOf(content).filter(({ text }) => text.includes("HARNESS_RESTART.md"));
  if (lines.length === 0) return "absent";
  return lines.length === 1 && lines[0]?.text.equals(LINE) === true ? "ours" : "theirs";
}

function placeInUnended(content: Buffer): number {
  if (content.subarray(0, 3).equals(BYTE_ORDER_MARK)) return Math.max(3, content.lastIndexOf(LF) + 1);
  const [first] = linesOf(content);
  return first?.text.toString("latin1").trimEnd() === "---" ? content.lastIndexOf(LF) + 1 : 0;
}

/** Of a file with both, its last line counts. */
function hasReturns(content: Buffer): boolean {
  const last = content.lastIndexOf(LF);
  return last > 0 && content[last - 1] === 0x0d;
}

interface Line {
  readonly text: Buffer;
  readonly start: number;
  /** Where its text ends, and where the next line begins. */
  readonly end: number;
  readonly next: number;
}

function linesOf(content: Buffer): readonly Line[] {
  const lines: Line[] = [];
  for (let start = content.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0; start < content.length;) {
    const newline = content.indexOf(LF, start);
    const next = newline === -1 ? content.length : newline + 1;
    const stop = newline === -1 ? next : newline;
    const end = newline > start && content[newline - 1] === 0x0d ? stop - 1 : stop;
    lines.push({ text: content.subarray(start, end), start, end, next });
    start = next;
  }
  return lines;
}
