import { expect, test } from "vitest";
import { excerptOf, scoreOf } from "./hit.ts";
import { parseQuery } from "./query.ts";

const marked = (text: string, query: string): string => {
  const { text: line, hits } = excerptOf(text, parseQuery(query));
  return hits
    .toReversed()
    .reduce((sum, [start, end]) => `${sum.slice(0, start)}[${sum.slice(start, end)}]${sum.slice(end)}`, line);
};

test.each([
  ["Fix foo_bar now", "foo_bar", "Fix [foo_bar] now"],
  ["Fix\n\n  foo_bar\tnow", "bar", "Fix foo_[bar] now"],
  ["日本語のテスト🦀", "語の 🦀", "日本[語の]テスト[🦀]"],
  ["Déjà vu again", '"deja vu" ag*', "[Déjà vu] [again]"],
  ["only the sender has it", "elsewhere", "only the sender has it"],
])("of %j, %s is shown as %j", (text, query, line) => {
  expect(marked(text, query)).toBe(line);
});

test("a long text is cut around the place where all of it is, at gaps", () => {
  const filler = "lorem ipsum dolor sit amet ".repeat(40);
  const text = `alpha ${filler}the alpha and the omega ${filler}`;
  const line = marked(text, "alpha omega");
  expect(line).toMatch(/^… .*\[alpha\] and the \[omega\].* …$/);
  expect(line.length).toBeLessThan(280);
});

test("more occurrences, shorter texts and the exact spelling count more", () => {
  const score = (text: string): number => scoreOf(text, parseQuery("Cache"));
  expect(score("Cache Cache")).toBeGreaterThan(score("Cache and more"));
  expect(score("Cache")).toBeGreaterThan(score(`Cache ${"x ".repeat(2_000)}`));
  expect(score("the Cache")).toBeGreaterThan(score("the cache"));
});
