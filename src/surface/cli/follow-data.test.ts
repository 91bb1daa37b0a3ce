import { expect, it } from "vitest";
import { gainedText } from "./follow-data.ts";

it.each([
  ["nothing new", "a\nb\n", "a\nb\n\n", ""],
  ["lines below", "a\nb\n", "a\nb\nc\nd\n", "c\nd\n"],
  ["a first line", "", "a\n", "a\n"],
  ["what scrolled, its beginning cut off", "a\nb\nc\n", "b\nc\nd\n", "b\nc\nd\n"],
  ["a last line that grew", "a\nName:", "a\nName: Ada\nnext\n", "Name: Ada\nnext\n"],
  ["a screen that was drawn anew", "menu\n", "other\n", "other\n"],
])("of a screen with %s only that is shown", (_what, before, now, gained) => {
  expect(gainedText(before, now)).toBe(gained);
});

it("finds its place again by the last lines, when the beginning of a long screen is gone", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  expect(gainedText(lines.slice(0, 90).join("\n"), lines.slice(50).join("\n"))).toBe(
    lines
      .slice(90)
      .map((line) => `${line}\n`)
      .join(""),
  );
});
