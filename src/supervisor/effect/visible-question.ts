/**
 * Which of a session's open questions is on its screen. A key answers whatever
 * question the agent shows. So before a key is pressed the question must be
 * recognised by its text, also if it is wrapped, indented or cut.
 */
import { visibleText } from "../../agent/visible-text.ts";
import { REDACTED } from "../../capture/redaction.ts";

/** A dialog that says so shows only the beginning or the end of something long. */
const CUT = /hidden \(Ctrl\+O\)|\[… \+?\d+ lines\]|…/u;
/** Less of it than this tells nothing from anything. */
const LEAST_PIECE = 20;

export type Showing = "whole" | "cut" | "no";

/** `words`: what the agent's dialog shows of the question; each must be found. */
export function showingOf(words: readonly string[], dialog: string): Showing {
  const showings = words.map((word) => showing(word, dialog));
  if (showings.length === 0 || showings.includes("no")) return "no";
  return showings.includes("cut") ? "cut" : "whole";
}

function showing(word: string, dialog: string): Showing {
  const isCutByUs = word.endsWith("…");
  // Secrets are left out of the record and not of the screen.
  const pieces = (isCutByUs ? word.slice(0, -1) : word).split(REDACTED).map(visibleText);
  const seen = visibleText(dialog);
  let from = 0;
  for (const piece of pieces) {
    const at = seen.indexOf(piece, from);
    if (at === -1) return pieces.length === 1 && CUT.test(dialog) && isPartIn(piece, seen) ? "cut" : "no";
    from = at + piece.length;
  }
  return pieces.some((piece) => piece !== "") ? "whole" : "no";
}

/** Its beginning or its end, as far as there is room. */
function isPartIn(piece: string, seen: string): boolean {
  const least = Math.min(LEAST_PIECE, piece.length);
  return seen.includes(piece.slice(0, least)) || seen.includes(piece.slice(-least));
}

/**
 * Whether these words are found wherever the others are, and are not all of
 * them: `npm test` is in every dialog about `npm test -- --watch`.
 */
export function arePartOf(words: readonly string[], others: readonly string[]): boolean {
  const [some, all] = [words.map(visibleText), others.map(visibleText)];
  const isIn = (parts: readonly string[], wholes: readonly string[]): boolean =>
    parts.every((part) => wholes.some((whole) => whole.includes(part)));
  return words.length > 0 && isIn(some, all) && !isIn(all, some);
}
