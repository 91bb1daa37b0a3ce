import { describe, expect, it } from "vitest";
import { asciiRuler } from "./text-ruler.ts";
import { inWords, wrapped } from "./wrap.ts";

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

describe("inWords", () => {
  it("leaves what fits as it is, also blank lines and line ends", () => {
    const text = "short\n\n  indented\nlast";
    expect(inWords(text, 40)).toBe(text);
  });

  it("breaks each long line by itself, and indents what follows an indented one", () => {
    expect(inWords("This will:\n  delete one, two, three\nand say so when it is done\n", 20)).toBe(
      "This will:\n  delete one, two,\n    three\nand say so when it\nis done\n",
    );
  });
});
