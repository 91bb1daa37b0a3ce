/** Block letters (█ ▀ ▙ …), drawn as shapes: as letters of a font they leave seams between the cells. */
import { CELL, columnAt, round, rowAt } from "./cell.ts";

/** A letter stands where its number says which quarters it fills: 1 and 2 are the upper ones, 4 and 8 the lower ones. */
const BY_QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█";

export const BLOCK_LETTERS = /[▘▝▀▖▌▞▛▗▚▐▜▄▙▟█]/g;

/** The path of the letter in this cell. */
export function blockPath(letter: string, column: number, row: number): string {
  const filled = BY_QUARTERS.indexOf(letter);
  const [width, height] = [CELL.width / 2, CELL.height / 2];
  return [0, 1, 2, 3]
    .filter((quarter) => (filled & (1 << quarter)) !== 0)
    .map((quarter) => {
      const x = round(columnAt(column) + (quarter % 2) * width);
      const y = rowAt(row) + (quarter < 2 ? 0 : height);
      return `M${x} ${y}h${width}v${height}h${-width}z`;
    })
    .join("");
}
