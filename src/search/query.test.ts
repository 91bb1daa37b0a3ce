import { expect, test } from "vitest";
import { ReeveError } from "../platform/reeve-error.ts";
import { matchOf, parseQuery } from "./query.ts";

const match = (text: string): string => matchOf(parseQuery(text));

test.each([
  ["fix tests", '"fix" AND "tests"'],
  ['"fix the tests" now', '"fix the tests" AND "now"'],
  ['an "open phrase', '"an" AND "open phrase"'],
  ["migr*", '"migr" *'],
  ['"fix the te*"', '"fix the te" *'],
  ['"fix the te"*', '"fix the te" *'],
  ["* lone*** *", '"lone" *'],
  ["foo_bar src/a.ts*", '"foo bar" AND "src a ts" *'],
  ["日本", '"日 本"'],
  ["🦀", '"symbol1f980"'],
  ["a AND b OR NOT c", '"a" AND "and" AND "b" AND "or" AND "not" AND "c"'],
  ["NEAR(a b, 5)", '"near a" AND "b" AND "5"'],
  ["text:secret about:kind {text}: -x +y ^z", '"text secret" AND "about kind" AND "text" AND "x" AND "y" AND "z"'],
  ["');DROP TABLE entry;--", '"drop" AND "table" AND "entry"'],
  ['""""a""', '"a"'],
  ["nul\u0000l", '"nul l"'],
])("%j", (text, expected) => {
  expect(match(text)).toBe(expected);
});

test.each(["", "   ", "***", '"', '""', "!?-_/()", "\u0000"])("%j holds nothing to look for", (text) => {
  expect(() => parseQuery(text)).toThrow(ReeveError);
});

test("too many words are refused, not cut", () => {
  expect(() => parseQuery("a ".repeat(65))).toThrow("65 words");
  expect(parseQuery("a ".repeat(64))).toHaveLength(64);
});
