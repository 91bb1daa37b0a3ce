/**
 * How wide text is on a terminal, and how to cut it. Letters of one column are
 * measured here; anything else needs Unicode tables that take 15 ms to load, so
 * they are loaded only when such text is there.
 */
export interface TextRuler {
  width(text: string): number;
  /** At most so many columns, with … where something was cut. */
  cut(text: string, columns: number): string;
}

/** Not written out: one such letter would make V8 hold the whole bundle in two bytes per character. */
export const ELLIPSIS = String.fromCodePoint(0x2026);

/** Only letters that take one column each and join with nothing: ASCII, a few signs, lines and blocks of boxes. */
export function isNarrow(text: string): boolean {
  return /^[\u0020-\u007e\u00b7\u2013\u2014\u2018-\u201d\u2022\u2026\u203a\u2190-\u2193\u2500-\u259f]*$/.test(text);
}

export const asciiRuler: TextRuler = {
  width: (text) => text.length,
  cut: (text, columns) => (text.length <= columns ? text : columns < 1 ? "" : text.slice(0, columns - 1) + ELLIPSIS),
};

export async function rulerFor(texts: Iterable<string>): Promise<TextRuler> {
  for (const text of texts) {
    if (isNarrow(text)) continue;
    const { unicodeRuler } = await import("./unicode-ruler.ts");
    return unicodeRuler;
  }
  return asciiRuler;
}
