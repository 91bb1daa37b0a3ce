/**
 * Terminal text that keeps its colours. Of all escape sequences only SGR
 * survives, and of SGR only what sets colours, weight, underline and reverse:
 * nothing that hides text (8) or blinks (5, 6). Only this file decides what a
 * program may change about how its text looks in our views.
 */
import { stripTerminal } from "./terminal-text.ts";

/** Plain text and SGR sequences, each written anew from what is allowed. */
export function keepStyles(text: string): string {
  return runsOf(text)
    .map(({ style, plain }) => `${style === null ? "" : `\u001B[${style}m`}${plain}`)
    .join("");
}

export interface StyledRun {
  /** SGR parameters that come before the text; null where none do. */
  readonly style: string | null;
  /** Without any escape sequence. */
  readonly plain: string;
}

export function runsOf(text: string): readonly StyledRun[] {
  const runs: StyledRun[] = [];
  let style: string | null = null;
  let end = 0;
  const add = (part: string): void => {
    const plain = stripTerminal(part);
    if (plain !== "" || style !== null) runs.push({ style, plain });
  };
  for (const sequence of text.matchAll(SGR)) {
    add(text.slice(end, sequence.index));
    style = allowedOf(sequence[1] ?? "");
    end = sequence.index + sequence[0].length;
  }
  add(text.slice(end));
  return runs;
}

// oxlint-disable-next-line no-control-regex -- it is an escape sequence that is looked for
const SGR = /\u001b\[([0-9;:]{0,64})m/g;

const COLOUR_PARTS = { "5": 1, "2": 3 } as const;

/** Null where nothing of it is allowed. */
function allowedOf(parameters: string): string | null {
  const codes = parameters.split(";");
  const kept: string[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const [code = "", ...sub] = (codes[at] ?? "").split(":");
    if (code === "38" || code === "48" || code === "58") {
      // Its own numbers follow: 38;5;n or 38;2;r;g;b. The form with colons is rare, and left out.
      if (sub.length > 0) continue;
      const form = codes[at + 1] ?? "";
      const count = form === "5" || form === "2" ? COLOUR_PARTS[form] : 0;
      const parts = codes.slice(at + 2, at + 2 + count);
      if (code !== "58" && count > 0 && parts.length === count && parts.every(isByte)) kept.push(code, form, ...parts);
      at += 1 + count;
    } else if (isPlainCode(Number(code === "" ? "0" : code))) kept.push(code === "" ? "0" : code);
  }
  return kept.length === 0 ? null : kept.join(";");
}

function isByte(text: string): boolean {
  return /^[0-9]{1,3}$/.test(text) && Number(text) <= 255;
}

/** Reset, bold, faint, italic, underline, reverse, struck through, what ends them, and the sixteen colours. */
function isPlainCode(code: number): boolean {
  if ([0, 1, 2, 3, 4, 7, 9, 22, 23, 24, 27, 29, 39, 49].includes(code)) return true;
  return (
    (code >= 30 && code <= 37) ||
    (code >= 40 && code <= 47) ||
    (code >= 90 && code <= 97) ||
    (code >= 100 && code <= 107)
  );
}
