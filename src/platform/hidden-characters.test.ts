/** What cannot be seen is shown, and what belongs to a picture or a word stays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dropHidden, escapeHidden, showHidden } from "./hidden-characters.ts";

const HIDDEN = /[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

describe("showHidden", () => {
  it.each([
    ["turns the rest of a line around", "rm \u202etxt.tset", "rm <U+202E>txt.tset"],
    ["isolates", "a\u2066b\u2069", "a<U+2066>b<U+2069>"],
    ["has no width", "r\u200bm\u2060 \ufeffx", "r<U+200B>m<U+2060> <U+FEFF>x"],
    ["joins nothing", "r\u200dm\u200c x", "r<U+200D>m<U+200C> x"],
    ["is a tag", "hi\u{e0068}\u{e0069}", "hi<U+E0068><U+E0069>"],
    ["is a soft hyphen", "pass\u00adword", "pass<U+00AD>word"],
    ["is a filler that looks like a blank", "a\u3164b", "a<U+3164>b"],
    ["ends a line", "a\u2028b", "a<U+2028>b"],
    ["varies a letter", "a\ufe0fb\u{e0100}", "a<U+FE0F>b<U+E0100>"],
    ["comes behind an emoji's own", "👍\ufe0f\ufe0f\u200d", "👍\ufe0f<U+FE0F><U+200D>"],
  ])("shows what %s", (_name, text, shown) => {
    expect(showHidden(text)).toBe(shown);
  });

  it.each([
    ["a family", "👨‍👩‍👧‍👦"],
    ["a heart on fire, a flag, a thumb and a key", "❤️‍🔥 🏳️‍🌈 👍🏽 1️⃣"],
    ["a symbol drawn as text", "✻︎ ©︎"],
    ["Persian and Hindi words", "می‌خواهم क्‍ष"],
    ["a form of an ideograph", "葛\u{e0100}"],
    ["Hebrew, Arabic and Chinese", "שלום مرحبا 你好"],
    ["frames and accents", "│ é e\u0301 ─"],
  ])("leaves %s alone", (_name, text) => {
    expect(showHidden(text)).toBe(text);
  });

  it("lets none through, and changes nothing else", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u200b", "\u200d", "\u202e", "\ufe0f", "\u{e0041}", "👨", "a"),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join("");
        expect(showHidden(text)).not.toMatch(HIDDEN);
        if (!HIDDEN.test(text)) expect(dropHidden(text).length).toBeLessThanOrEqual(text.length);
        expect(showHidden(showHidden(text))).toBe(showHidden(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe("escapeHidden", () => {
  it("is JSON that says the same and hides nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("\u202e", "\u{e0041}", "\ufeff"), (text, hidden) => {
        const json = escapeHidden(JSON.stringify({ [hidden]: text + hidden + text }));
        expect(json).not.toMatch(HIDDEN);
        expect(JSON.parse(json)).toEqual({ [hidden]: text + hidden + text });
      }),
    );
  });
});
