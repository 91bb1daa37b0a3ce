import { describe, expect, it } from "vitest";
import { asciiRuler } from "./text-ruler.ts";
import { wrapped } from "./wrap.ts";

const margin = { first: "- ", next: "  " };

describe("wrapped", () => {
  it("breaks between words and hangs what follows", () => {
    expect(wrapped("one two three four five six", margin, 22, asciiRuler)).toBe("- one two three four\n  five six\n");
  });

  it("keeps a word whole that is longer than the line", () => {
    const path = "/a/path/that/is/longer/than/any/line";
    expect(wrapped(`see ${path} there`, margin, 22, asciiRuler)).toBe(`- see\n  ${path}\n  there\n`);
  });

  it("breaks nothing where nobody said how wide it is", () => {
    expect(wrapped("one two ".repeat(50).trim(), margin, null, asciiRuler).split("\n")).toHaveLength(2);
  });
});
