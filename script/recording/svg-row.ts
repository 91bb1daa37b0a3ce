/** One row of a screen as SVG: rectangles for grounds, one `<text>` with a `<tspan>` for each piece in its pen, and block letters. */
import stringWidth from "string-width";
import { BLOCK_LETTERS, blockPath } from "./block-letters.ts";
import { CELL, columnAt, round, rowAt } from "./cell.ts";
import type { Piece } from "./drawn-row.ts";
import type { Pen } from "./pen.ts";
import { SCREEN } from "./pen.ts";

/** From the top of a cell to the foot of its letters. */
const BASELINE = 13.5;

export function drawRow(pieces: readonly Piece[], row: number): string {
  const blocks = pieces.map((piece) => drawBlocks(piece, row));
  const spans = pieces.flatMap(wordsOf).map(drawPiece);
  const text = spans.length === 0 ? "" : `<text y="${rowAt(row) + BASELINE}">${spans.join("")}</text>`;
  return `${pieces.map((piece) => drawGround(piece, row)).join("")}${blocks.join("")}${text}`;
}

function drawGround({ column, columns, pen }: Piece, row: number): string {
  const ground = pen.isReversed ? (pen.text ?? SCREEN.text) : pen.ground;
  if (ground === null) return "";
  const width = round(columns * CELL.width);
  return `<rect x="${columnAt(column)}" y="${rowAt(row)}" width="${width}" height="${CELL.height}" fill="${ground}"/>`;
}

function drawBlocks({ column, text, pen }: Piece, row: number): string {
  const path = [...text.matchAll(BLOCK_LETTERS)]
    .map(({ 0: letter, index }) => blockPath(letter, column + stringWidth(text.slice(0, index)), row))
    .join("");
  return path === "" ? "" : `<path d="${path}"${inPen(pen)}/>`;
}

/** Wide gaps are left to the column of the next word, so that no blank has to keep its width. */
function wordsOf(piece: Piece): readonly Piece[] {
  if (piece.pen.isUnderlined || piece.pen.isStruck) return [{ ...piece, text: piece.text.replaceAll(" ", "\u00A0") }];
  return [...piece.text.replaceAll(BLOCK_LETTERS, " ").matchAll(/\S+(?: \S+)*/g)].map((word) => ({
    ...piece,
    text: word[0],
    column: piece.column + stringWidth(piece.text.slice(0, word.index)),
    columns: stringWidth(word[0]),
  }));
}

/** `textLength` keeps the columns whatever the reader's font is. */
function drawPiece({ column, columns, text, pen }: Piece): string {
  const lines = [...(pen.isUnderlined ? ["underline"] : []), ...(pen.isStruck ? ["line-through"] : [])];
  const attributes = [
    `x="${columnAt(column)}"`,
    ...(columns > 1 ? [`textLength="${round(columns * CELL.width)}"`] : []),
    ...(pen.isBold ? [`font-weight="bold"`] : []),
    ...(pen.isItalic ? [`font-style="italic"`] : []),
    ...(lines.length > 0 ? [`text-decoration="${lines.join(" ")}"`] : []),
  ];
  return `<tspan ${attributes.join(" ")}${inPen(pen)}>${escapeXml(text)}</tspan>`;
}

function inPen(pen: Pen): string {
  const fill = pen.isReversed ? (pen.ground ?? SCREEN.ground) : pen.text;
  return `${fill === null ? "" : ` fill="${fill}"`}${pen.isFaint ? ` fill-opacity="0.6"` : ""}`;
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
