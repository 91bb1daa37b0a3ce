/**
 * Puts frames on a terminal: only what changed is written, all of it as one
 * update, so that nothing flickers and a slow line carries little. Keeps what
 * is on the screen; never reads from it.
 */
import { showHidden } from "../../platform/hidden-characters.ts";
import type { Span } from "./line.ts";
import type { Frame } from "./render.ts";

export interface ScreenWriter {
  /** What to send so that the terminal shows this frame; empty when it does already. */
  update(frame: Frame): string;
  /** The screen was cleared, or holds what others wrote. */
  forget(): void;
}

/** Terminals that know it show all of it at once; the others ignore it. */
const BEGIN_UPDATE = "\u001B[?2026h";
const END_UPDATE = "\u001B[?2026l";
const HIDE_CURSOR = "\u001B[?25l";
const SHOW_CURSOR = "\u001B[?25h";

export function createScreenWriter({ isUnicode }: { readonly isUnicode: boolean }): ScreenWriter {
  let shown: readonly (readonly Piece[])[] = [];
  let cursor = "";
  return {
    update({ lines, cursor: place }) {
      const next = lines.map((line) => line.map((one) => pieceOf(one, isUnicode)));
      const changes = next.map((pieces, row) => changeOf(shown[row], pieces, row + 1));
      const nextCursor = place === null ? HIDE_CURSOR : `\u001B[${place.row + 1};${place.column + 1}H${SHOW_CURSOR}`;
      const isSame = changes.every((text) => text === "") && nextCursor === cursor;
      shown = next;
      cursor = nextCursor;
      return isSame ? "" : `${BEGIN_UPDATE}${HIDE_CURSOR}${changes.join("")}${nextCursor}${END_UPDATE}`;
    },
    forget() {
      shown = [];
      cursor = "";
    },
  };
}

/** A span as it is sent, and its text alone. */
interface Piece {
  readonly sent: string;
  readonly text: string;
}

function pieceOf({ text, style }: Span, isUnicode: boolean): Piece {
  const safe = showHidden(text.replaceAll(CONTROL, ""));
  const plain = isUnicode ? safe : inAscii(safe);
  return { sent: style === undefined ? plain : `\u001B[${style}m${plain}\u001B[0m`, text: plain };
}

/**
 * What is the same at the beginning and the end of a line is not sent again,
 * as far as it is ASCII: terminals do not agree on how wide anything else is.
 */
function changeOf(before: readonly Piece[] | undefined, after: readonly Piece[], row: number): string {
  if (before === undefined) return `\u001B[${row};1H${sent(after)}\u001B[K`;
  let start = 0;
  while (start < after.length && isSame(before[start], after[start]) && isAscii(after[start])) start += 1;
  if (start === after.length && start === before.length) return "";
  let left = 0;
  while (left < after.length - start && isSame(before.at(-1 - left), after.at(-1 - left))) left += 1;
  const [gone, come] = [before.slice(start, before.length - left), after.slice(start, after.length - left)];
  const column = 1 + lengthOf(after.slice(0, start));
  const isSwap = before.length - left > start && [...gone, ...come].every(isAscii) && lengthOf(gone) === lengthOf(come);
  if (isSwap && left > 0) return `\u001B[${row};${column}H${sent(come)}`;
  const rest = after.slice(start);
  return sent(before) === sent(after) ? "" : `\u001B[${row};${column}H${sent(rest)}\u001B[K`;
}

function sent(pieces: readonly Piece[]): string {
  return pieces.map((piece) => piece.sent).join("");
}

function isSame(one: Piece | undefined, other: Piece | undefined): boolean {
  return one !== undefined && one.sent === other?.sent;
}

function isAscii(piece: Piece | undefined): boolean {
  return piece !== undefined && /^[\u0020-\u007e]*$/.test(piece.text);
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}

/** Nothing that reaches the terminal from here is anything but text and our own sequences. */
// oxlint-disable-next-line no-control-regex -- they are what must not pass
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

const ASCII: Readonly<Record<string, string>> = {
  "…": "~",
  "·": "|",
  "─": "-",
  "│": "|",
  "→": ">",
  "←": "<",
  "›": ">",
};

function inAscii(text: string): string {
  return text.replaceAll(/[^\u0020-\u007e]/gu, (character) => ASCII[character] ?? "?");
}
