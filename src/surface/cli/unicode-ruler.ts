/** The ruler for all of Unicode: wide characters take two columns, combined ones are never torn apart. */
import stringWidth from "string-width";
import { graphemesOf } from "./graphemes.ts";
import { asciiRuler, ELLIPSIS, isNarrow } from "./text-ruler.ts";
import type { TextRuler } from "./text-ruler.ts";

export const unicodeRuler: TextRuler = {
  width: widthOf,
  cut: (text, columns) => {
    if (isNarrow(text)) return asciiRuler.cut(text, columns);
    if (stringWidth(text) <= columns) return text;
    let kept = "";
    let used = 0;
    for (const { segment } of graphemesOf(text)) {
      const width = stringWidth(segment);
      if (used + width > columns - 1) break;
      kept += segment;
      used += width;
    }
    return columns < 1 ? "" : kept + ELLIPSIS;
  },
};

/** Most texts are narrow, and a board measures hundreds for each frame. */
function widthOf(text: string): number {
  return isNarrow(text) ? text.length : stringWidth(text);
}
