/**
 * Rows in columns that fit a terminal: flexible columns are narrowed first,
 * then whole columns are left out, the least important first. Pure.
 */
import type { TextRuler } from "./text-ruler.ts";

export interface Column {
  readonly title: string;
  /** What it may shrink to; equal to its content when left out. */
  readonly least?: number;
  /** Which column is dropped first when nothing else helps; the highest number goes first, none never. */
  readonly dropped?: number;
}

export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

const GAP = "  ";

export function layOut(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number | null,
  ruler: TextRuler,
): string {
  const natural = columns.map((column, index) =>
    Math.max(column.title.length, ...rows.map((row) => ruler.width(row[index]?.text ?? ""))),
  );
  const widths = width === null ? natural : fit(columns, natural, width);
  const shown = [...columns.keys()].filter((index) => widths[index] !== 0);
  const line = (cells: readonly Cell[]): string => {
    const parts = shown.map((index, position) => {
      const { text = "", paint } = cells[index] ?? {};
      const room = widths[index] ?? 0;
      const cut = ruler.cut(text, room);
      const padding = position === shown.length - 1 ? "" : " ".repeat(Math.max(0, room - ruler.width(cut)));
      return `${paint === undefined ? cut : paint(cut)}${padding}`;
    });
    return parts.join(GAP).trimEnd();
  };
  return [columns.map((column) => ({ text: column.title })), ...rows].map((cells) => `${line(cells)}\n`).join("");
}

/** A width for each column; 0 leaves it out. */
function fit(columns: readonly Column[], natural: readonly number[], available: number): readonly number[] {
  let widths = [...natural];
  for (;;) {
    widths = shrunk(columns, natural, widths, available);
    if (total(widths) <= available) return widths;
    const candidates = [...columns.entries()].filter(
      ([index, column]) => column.dropped !== undefined && widths[index] !== 0,
    );
    const [first] = candidates.toSorted(([, a], [, b]) => (b.dropped ?? 0) - (a.dropped ?? 0));
    if (first === undefined) return squeezed(widths, available);
    widths = widths.map((size, index) => (index === first[0] ? 0 : size === 0 ? 0 : (natural[index] ?? 0)));
  }
}

/** The last columns give first: they hold the longest text. */
function shrunk(
  columns: readonly Column[],
  natural: readonly number[],
  widths: readonly number[],
  available: number,
): number[] {
  const result = [...widths];
  for (let index = columns.length - 1; index >= 0; index--) {
    const size = result[index] ?? 0;
    const least = Math.min(columns[index]?.least ?? natural[index] ?? 0, size);
    result[index] = Math.max(least, size - Math.max(0, total(result) - available));
  }
  return result;
}

/** Narrower than a table can be: what remains shares the room. */
function squeezed(widths: readonly number[], available: number): readonly number[] {
  const shown = widths.filter((size) => size > 0).length;
  const share = Math.max(1, Math.floor((available - GAP.length * (shown - 1)) / Math.max(1, shown)));
  return widths.map((size) => Math.min(size, share));
}

function total(widths: readonly number[]): number {
  const shown = widths.filter((size) => size > 0);
  return shown.reduce((sum, size) => sum + size, 0) + GAP.length * Math.max(0, shown.length - 1);
}
