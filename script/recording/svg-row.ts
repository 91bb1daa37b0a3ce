/** One row of a screen as SVG: rectangles for grounds, one `<text>` with a `<tspan>` for each piece in its pen. */
import stringWidth from "string-width";
import type { Piece } from "./drawn-row.ts";
import { SCREEN } from "./pen.ts";

export const CELL = { width: 8.4, height: 18 } as const;
export const PADDING = 16;
/** From the top of a cell to the foot of its letters. */
const BASELINE = 13.5;

export const columnAt = (column: number): number => round(PADDING + column * CELL.width);
export const rowAt = (row: number): number => PADDING + row * CELL.height;

export function drawRow(pieces: readonly Piece[], row: number): string {
  const spans = pieces.flatMap(wordsOf).map(drawPiece);
  const text = spans.length === 0 ? "" : `<text y="${rowAt(row) + BASELINE}">${spans.join("")}</text>`;
  return `${pieces.map((piece) => drawGround(piece, row)).join("")}${text}`;
}

function drawGround({ column, columns, pen }: Piece, row: number): string {
  const ground = pen.isReversed ? (pen.text ?? SCREEN.text) : pen.ground;
  if (ground === null) return "";
  const width = round(columns * CELL.width);
  return `<rect x="${columnAt(column)}" y="${rowAt(row)}" width="${width}" height="${CELL.height}" fill="${ground}"/>`;
}

/** Wide gaps are left to the column of the next word, so that no blank has to keep its width. */
function wordsOf(piece: Piece): readonly Piece[] {
  if (piece.pen.isUnderlined || piece.pen.isStruck) return [{ ...piece, text: piece.text.replaceAll(" ", "\u00A0") }];
  return [...piece.text.matchAll(/[^\s]+(?: [^\s]+)*/g)].map((word) => ({
    ...piece,
    text: word[0],
    column: piece.column + stringWidth(piece.text.slice(0, word.index)),
    columns: stringWidth(word[0]),
  }));
}

/** `textLength` keeps the columns whatever the reader's font is. */
function drawPiece({ column, columns, text, pen }: Piece): string {
  const fill = pen.isReversed ? (pen.ground ?? SCREEN.ground) : pen.text;
  const lines = [...(pen.isUnderlined ? ["underline"] : []), ...(pen.isStruck ? ["line-through"] : [])];
  const attributes = [
    `x="${columnAt(column)}"`,
    ...(columns > 1 ? [`textLength="${round(columns * CELL.width)}"`] : []),
    ...(fill === null ? [] : [`fill="${fill}"`]),
    ...(pen.isFaint ? [`fill-opacity="0.6"`] : []),
    ...(pen.isBold ? [`font-weight="bold"`] : []),
    ...(pen.isItalic ? [`font-style="italic"`] : []),
    ...(lines.length > 0 ? [`text-decoration="${lines.join(" ")}"`] : []),
  ];
  return `<tspan ${attributes.join(" ")}>${escapeXml(text)}</tspan>`;
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
