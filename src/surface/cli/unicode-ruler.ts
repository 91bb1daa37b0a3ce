/** The ruler for all of Unicode: wide characters take two columns, combined ones are never torn apart. */
import stringWidth from "string-width";
import { ELLIPSIS } from "./text-ruler.ts";
import type { TextRuler } from "./text-ruler.ts";

const segmenter = new Intl.Segmenter();

export const unicodeRuler: TextRuler = {
  width: (text) => stringWidth(text),
  cut: (text, columns) => {
    if (stringWidth(text) <= columns) return text;
    let kept = "";
    let used = 0;
    for (const { segment } of segmenter.segment(text)) {
      const width = stringWidth(segment);
      if (used + width > columns - 1) break;
      kept += segment;
      used += width;
    }
    return columns < 1 ? "" : kept + ELLIPSIS;
  },
};
