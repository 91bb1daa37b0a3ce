/** Texts of any length, made to fit where there is little room. */

/** One row of at most `columns` cells, keeping the end, where the cursor is. */
export function lastCells(text: string, columns: number): string {
  const tail = Array.from(text.slice(-columns * 2));
  let cells = 0;
  let from = tail.length;
  while (from > 0) {
    cells += cellsOf(tail[from - 1] ?? "");
    if (cells > columns - 1) break;
    from--;
  }
  const kept = tail.slice(from).join("");
  return kept.length === text.length ? kept : `…${kept}`;
}

/** One line that stands for a text of any length. */
export function summaryOf(text: string, limit: number): string {
  const lineCount = text.slice(0, 1_000_000).split("\n").length;
  const first = text.slice(0, limit + 1).split("\n")[0] ?? "";
  const shown = first.length > limit ? `${first.slice(0, limit)}…` : first;
  return lineCount > 1 ? `${shown} (+${lineCount - 1} ${lineCount === 2 ? "line" : "lines"})` : shown;
}

/** Never too few: a row that wraps could not be redrawn, a short one only looks short. */
function cellsOf(character: string): number {
  return (character.codePointAt(0) ?? 0) < 0x300 ? 1 : 2;
}
