import { expect, it } from "vitest";
import stringWidth from "string-width";
import { isNarrow } from "./text-ruler.ts";
import { unicodeRuler } from "./unicode-ruler.ts";

it("what is taken for narrow is one column wide, alone and side by side", () => {
  const narrow = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code)).filter(isNarrow);
  expect(narrow.length).toBeGreaterThan(250);
  expect(narrow.filter((letter) => stringWidth(letter) !== 1)).toEqual([]);
  expect(stringWidth(narrow.join(""))).toBe(narrow.length);
});

it.each(["漢", "é", "e\u0301", "👩‍👩‍👧", "\u00ad", "\t", "\u200d"])("%j is measured with the tables", (text) => {
  expect(isNarrow(text)).toBe(false);
  expect(unicodeRuler.width(`a${text}`)).toBe(stringWidth(`a${text}`));
});

it("cuts narrow and wide text to the same room", () => {
  expect(unicodeRuler.cut("abcdef", 4)).toBe("abc…");
  expect(unicodeRuler.cut("漢字漢字", 4)).toBe("漢…");
});
