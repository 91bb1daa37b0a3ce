import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTerminalStripper, keepTail, stripControls, stripTerminal } from "./terminal-text.ts";

const ESC = "\u001b";
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

describe("stripTerminal", () => {
  it.each([
    ["colours", `${ESC}[1;31mred${ESC}[0m`, "red"],
    ["a title ended by BEL", `${ESC}]0;title\u0007text`, "text"],
    ["a clipboard write ended by ST", `a${ESC}]52;c;ZXZpbA==${ESC}\\b`, "ab"],
    ["a link", `${ESC}]8;;http://x\u0007link${ESC}]8;;\u0007`, "link"],
    ["DCS, APC, PM and SOS", `${ESC}Pq1${ESC}\\${ESC}_x${ESC}\\${ESC}^y${ESC}\\${ESC}Xz${ESC}\\ok`, "ok"],
    ["C1 introducers", "a\u009b31mb\u009d0;t\u009cc", "abc"],
    ["a charset choice", `${ESC}(Bx`, "x"],
    ["C0 but line feed and tab", "a\u0000\u0007\r\n\tb\u0008", "a\n\tb"],
    ["a sequence broken off by the line's end", `${ESC}]0;never ended\nnext`, "\nnext"],
    ["a new sequence inside another", `${ESC}[3${ESC}[1mx`, "x"],
  ])("removes %s", (_name, text, plain) => {
    expect(stripTerminal(text)).toBe(plain);
  });

  it("keeps plain text whole", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => UNSAFE.test(text) || stripControls(text) === text),
    );
  });

  it("shows hidden characters, and leaves them in what must stay as it was written", () => {
    expect(stripTerminal(`${ESC}[1ma\u202eb`)).toBe("a<U+202E>b");
    expect(stripControls(`${ESC}[1ma\u202eb`)).toBe("a\u202eb");
  });

  it("lets no control character through", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(ESC, `${ESC}[`, `${ESC}]`, "\u009b", "\u0007", `${ESC}\\`, "\n", "m"),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => !UNSAFE.test(stripTerminal(pieces.join("")))),
      { numRuns: 500 },
    );
  });
});

describe("createTerminalStripper", () => {
  it("gives the same however the bytes are cut", () => {
    const byte = fc.oneof(fc.nat(255), fc.constantFrom(0x1b, 0x5b, 0x5d, 0x07, 0x0a, 0x6d, 0xc2, 0x9b, 0xf0));
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 300 }), fc.array(fc.nat(20)), (bytes, sizes) => {
        const whole = createTerminalStripper().push(Buffer.from(bytes));
        const stripper = createTerminalStripper();
        let pieces = "";
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          pieces += stripper.push(Buffer.from(bytes.slice(at, at + size)));
          at += size;
        }
        expect(pieces).toBe(whole);
        expect(whole).not.toMatch(UNSAFE);
      }),
      { numRuns: 500 },
    );
  });
});

describe("keepTail", () => {
  it("keeps the end, and no half of a character", () => {
    expect(keepTail("abc", 10)).toBe("abc");
    expect(keepTail("abc", 2)).toBe("bc");
    expect(keepTail("aé漢", 4)).toBe("漢");
    expect(keepTail("aé漢", 0)).toBe("");
  });
});
