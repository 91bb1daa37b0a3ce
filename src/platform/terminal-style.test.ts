import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepStyles } from "./terminal-style.ts";

const ESC = "\u001B";

describe("keepStyles", () => {
  it("keeps colours, weight, underline and reverse", () => {
    const text = `${ESC}[1;31mred${ESC}[0m ${ESC}[38;5;208morange${ESC}[48;2;1;2;3mon${ESC}[m`;
    expect(keepStyles(text)).toBe(`${ESC}[1;31mred${ESC}[0m ${ESC}[38;5;208morange${ESC}[48;2;1;2;3mon${ESC}[0m`);
  });

  it.each([
    ["text that is hidden", `${ESC}[8mrm -rf${ESC}[0m`, `rm -rf${ESC}[0m`],
    ["text that blinks", `${ESC}[5;6;31mx`, `${ESC}[31mx`],
    ["a colour out of range", `${ESC}[38;5;999mx`, "x"],
    ["the colour of an underline, and its numbers", `${ESC}[58;5;1;4mx`, `${ESC}[4mx`],
    ["the clipboard, a title, a link", `${ESC}]52;c;eA==\u0007${ESC}]0;t\u0007${ESC}]8;;http://x${ESC}\\x`, "x"],
    ["the cursor and the screen", `${ESC}[2J${ESC}[Hx${ESC}[?1049h`, "x"],
    ["hidden characters, which are shown", "a\u202Eb", "a<U+202E>b"],
  ])("does not pass on %s", (_what, text, kept) => {
    expect(keepStyles(text)).toBe(kept);
  });

  it("adds nothing but SGR to what stripping leaves", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(ESC, `${ESC}[`, `${ESC}]`, "\u009b", "8", "31", ";", "m", "\n"),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const kept = keepStyles(pieces.join(""));
        // oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
        expect(kept.replaceAll(/\u001b\[[0-9;]+m/g, "")).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
      { numRuns: 500 },
    );
  });
});
