/** Puts a table into docs/spec/reliability.md, between the two comments that mark its place. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const PAGE = join(import.meta.dirname, "..", "..", "docs", "spec", "reliability.md");

export function writeTable(place: "truth" | "kills", text: string, path = PAGE): void {
  writeFileSync(path, replaced(readFileSync(path, "utf8"), place, text));
}

export function replaced(page: string, place: string, text: string): string {
  const [begin, end] = [`<!-- ${place}: begin -->`, `<!-- ${place}: end -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page has no place for the table: ${begin} … ${end}.`);
  return `${page.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${page.slice(to)}`;
}
