import { expect, test } from "vitest";
import { indexed, wordsOf } from "./words.ts";

test.each([
  ["Fix foo_bar in src/store/x.ts", "fix foo bar in src store x ts"],
  ["Déjà VU, naïve Straße", "deja vu naive straße"],
  ["日本語のtest", "日 本 語 の test"],
  ["한국어 조사", "한국어 조사"],
  ["done 🦀! ©", "done symbol1f980 symbola9"],
  ["ＦＵＬＬ ｗｉｄｔｈ ２", "full width 2"],
  ["हिन्दी में", "हनद म"],
  ["nul\u0000byte \u001b[31mred", "nul byte 31mred"],
  ["--- ... !!!", ""],
  ["", ""],
])("%j is found by %j", (text, words) => {
  expect(indexed(text)).toBe(words);
});

test("a word that is too long is found by its beginning", () => {
  expect(indexed("a".repeat(100))).toBe("a".repeat(64));
  expect(Array.from(indexed("é".repeat(100)))).toHaveLength(64);
});

test("half a character is no word and breaks nothing", () => {
  expect(indexed("ok \ud83e end")).toBe("ok end");
});

test("each word says where it stands", () => {
  expect([...wordsOf("Ä 語🦀x")]).toEqual([
    { token: "a", start: 0, end: 1 },
    { token: "語", start: 2, end: 3 },
    { token: "symbol1f980", start: 3, end: 5 },
    { token: "x", start: 5, end: 6 },
  ]);
});
