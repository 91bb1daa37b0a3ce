/** Patterns from data run on an engine whose time grows with the text, whatever the pattern. */
import { describe, expect, test } from "vitest";
import { compilePattern } from "./linear-pattern.ts";

describe("a pattern", () => {
  test("finds its group, or the whole match", () => {
    expect(compilePattern("^> (.+)$").find("x\n> yes\ny")).toBe("yes");
    expect(compilePattern("y+").find("xyyz")).toBe("yy");
    expect(compilePattern("(a)|b").find("b")).toBe("b");
    expect([compilePattern("y").find("x"), compilePattern("y").test("x"), compilePattern("x").test("x")]).toEqual([
      null,
      false,
      true,
    ]);
  });

  test("matches at each line, and \\z only at the end", () => {
    const rule = compilePattern("^b$");
    expect([rule.test("a\nb\nc"), rule.test("ab")]).toEqual([true, false]);
    expect([compilePattern("b\\z").test("b\na"), compilePattern("b\\z").test("a\nb")]).toEqual([false, true]);
  });

  test("may be spelt as in JavaScript", () => {
    expect(compilePattern("^\\u2500+\\u{1F512}\\/(?<rest>.*)$").find("──🔒/all")).toBe("all");
  });

  test.each([
    ["^(a+)+$", `${"a".repeat(10_000)}!`],
    ["^(?:a|a)*$", `${"a".repeat(10_000)}!`],
    ["^(?:.*,){20}x", ",".repeat(10_000)],
    ["(?:a?){100}a{100}b", `b${"a".repeat(10_000)}`],
    ["(\\w+\\s?)*$", `${"word ".repeat(2_000)}!`],
  ])("that never ends in other engines does here: %s", (source, text) => {
    const pattern = compilePattern(source);
    expect(pattern.find(text) === null).toBe(!pattern.test(text));
  });

  test.each([
    ["(", '"(" is not a pattern: missing closing ): `(`'],
    ["a(?![\\s\\S])", "write \\z for the end of the screen"],
    ["(?=a)b", "there is no lookahead or lookbehind"],
    ["^(?!x)", "name what may not be there in unless, or the allowed characters as [^…]"],
    ["(?<=a)b", "there is no lookahead or lookbehind"],
    ["(a)\\1", "there are no references to earlier groups"],
    ["(?<x>a)\\k<x>", "there are no references to earlier groups"],
    ["a{1001}", "invalid repeat count"],
    ["(?:a{100}){9}", "is too large a pattern: make the counts in its {…} smaller, or split it"],
  ])("%s is refused with what to do about it", (source, why) => {
    expect(() => compilePattern(source)).toThrow(why);
    expect(() => compilePattern(source)).toThrow(`"${source}" is`);
  });
});
