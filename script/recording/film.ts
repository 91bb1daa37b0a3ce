/**
 * A film as an animated SVG: plain text and rectangles, shown and hidden by CSS
 * keyframes, over and over. It holds no script and refers to nothing outside,
 * so that it also moves as a picture in a README. A row that stays the same
 * over several frames is drawn once. Where nothing may move, the last frame is
 * shown.
 */
import { stripTerminal } from "../../src/platform/terminal-text.ts";
import { CELL, columnAt, PADDING, round, rowAt } from "./cell.ts";
import { drawnRows } from "./drawn-row.ts";
import { SCREEN } from "./pen.ts";
import { drawRow, escapeXml } from "./svg-row.ts";
import type { Shot } from "./terminal.ts";

export interface Frame extends Shot {
  /** How long it is shown. */
  readonly ms: number;
  /** Said below the terminal. */
  readonly caption: string;
}

export interface Film {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly frames: readonly Frame[];
}

const CAPTION_HEIGHT = 44;
const FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,Liberation Mono,monospace";
const EDGE = "#30363d";

export function renderFilm({ title, columns, rows, frames }: Film): string {
  const width = Math.ceil(columnAt(columns)) + PADDING;
  const foot = rowAt(rows) + PADDING;
  const height = foot + CAPTION_HEIGHT;
  const parts = partsOf(frames, rows);
  const last = frames.at(-1);
  const lastText = (last?.lines ?? []).map((line) => stripTerminal(line).trimEnd()).join("\n");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc" font-family="${FONT}" font-size="14" fill="${SCREEN.text}">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="desc">The last picture:\n${escapeXml(lastText.trim())}\n${escapeXml(last?.caption ?? "")}</desc>`,
    `<style>`,
    ...keyframesOf(parts, frames),
    `@media (prefers-reduced-motion:reduce){g{animation:none!important}}`,
    `</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${SCREEN.ground}" stroke="${EDGE}"/>`,
    `<path d="M1 ${foot}H${width - 1}" stroke="${EDGE}"/>`,
    ...parts.map(({ from, to, drawn }) => `<g class="${nameOf(from, to)}">${drawn.join("")}</g>`),
    `</svg>`,
    ``,
  ].join("\n");
}

/** What is drawn from one frame up to, and without, another. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly drawn: string[];
}

const nameOf = (from: number, to: number): string => `f${from}-${to}`;

function partsOf(frames: readonly Frame[], rows: number): readonly Part[] {
  const pictures = frames.map((frame) => layersOf(frame, rows));
  const parts = new Map<string, Part>();
  for (const layer of pictures[0]?.keys() ?? []) {
    for (let from = 0, to = 0; from < frames.length; from = to) {
      const drawn = pictures[from]?.[layer] ?? "";
      while (to < frames.length && pictures[to]?.[layer] === drawn) to += 1;
      if (drawn === "") continue;
      const part = parts.get(nameOf(from, to)) ?? { from, to, drawn: [] };
      parts.set(nameOf(from, to), part);
      part.drawn.push(drawn);
    }
  }
  return [...parts.values()];
}

/** Each row, the cursor and the caption. */
function layersOf({ lines, cursor, caption }: Frame, rows: number): readonly string[] {
  const drawn = drawnRows(lines);
  const block = (column: number, row: number): string =>
    `<rect x="${columnAt(column)}" y="${rowAt(row)}" width="${CELL.width}" height="${CELL.height}" fill-opacity="0.6"/>`;
  return [
    ...Array.from({ length: rows }, (_, row) => drawRow(drawn[row] ?? [], row)),
    cursor === null ? "" : block(cursor.column, cursor.row),
    caption === ""
      ? ""
      : `<text x="${PADDING}" y="${rowAt(rows) + PADDING + 28}" font-size="16" font-weight="bold">${escapeXml(caption)}</text>`,
  ];
}

/** Without an animation a part is hidden, unless it belongs to the last frame. */
function keyframesOf(parts: readonly Part[], frames: readonly Frame[]): readonly string[] {
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  const starts = frames.map((_, index) => frames.slice(0, index).reduce((sum, { ms }) => sum + ms, 0));
  const percent = (frame: number): string => `${round(((starts[frame] ?? total) / total) * 100)}%`;
  const isWhole = (part: Part): boolean => part.from === 0 && part.to === frames.length;
  return parts
    .filter((part) => !isWhole(part))
    .map(({ from, to }) => {
      const name = nameOf(from, to);
      const steps = [
        ...(from === 0 ? [] : ["0%{visibility:hidden}"]),
        `${percent(from)}{visibility:visible}`,
        ...(to === frames.length ? [] : [`${percent(to)}{visibility:hidden}`]),
      ];
      const still = to === frames.length ? "visible" : "hidden";
      return `.${name}{visibility:${still};animation:${name} ${total}ms step-end infinite}@keyframes ${name}{${steps.join("")}}`;
    });
}
