/** The grid of the terminal, in the units of the picture. */
export const CELL = { width: 8.4, height: 18 } as const;
/** Around the terminal. */
export const PADDING = 16;

export const columnAt = (column: number): number => round(PADDING + column * CELL.width);
export const rowAt = (row: number): number => PADDING + row * CELL.height;

/** Finer than a hundredth of a unit nobody sees. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
