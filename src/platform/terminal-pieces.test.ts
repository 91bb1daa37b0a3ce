import fc from "fast-check";
import { expect, test } from "vitest";
import { createTerminalSplitter, type TerminalPiece } from "./terminal-pieces.ts";

const split = (...chunks: readonly string[]): readonly TerminalPiece[] => {
  const splitter = createTerminalSplitter();
  return chunks.flatMap((chunk) => splitter.push(chunk));
};
const text = (value: string): TerminalPiece => ({ kind: "text", text: value });
const sequence = (value: string): TerminalPiece => ({ kind: "sequence", text: value });

test("text and sequences, each whole and in its place", () => {
  expect(split("a\u001b[31mb\r\nc\u001b]0;title\u0007d\u001b]8;;http://x\u001b\\e\u001b(Bf\u009b1mg")).toEqual([
    text("a"),
    sequence("\u001b[31m"),
    text("b"),
    sequence("\r"),
    text("\nc"),
    sequence("\u001b]0;title\u0007"),
    text("d"),
    sequence("\u001b]8;;http://x\u001b\\"),
    text("e"),
    sequence("\u001b(B"),
    text("f"),
    sequence("\u009b1m"),
    text("g"),
  ]);
});

test("a sequence that another one, a line feed or a cancel cuts off", () => {
  expect(split("\u001b[3\u001b[1m")).toEqual([sequence("\u001b[3"), sequence("\u001b[1m")]);
  expect(split("\u001b]0;a\u001b[1m")).toEqual([sequence("\u001b]0;a"), sequence("\u001b[1m")]);
  expect(split("\u001b]0;a", "\u001b", "[1m")).toEqual([sequence("\u001b]0;a"), sequence("\u001b[1m")]);
  expect(split("\u001b[3\nx")).toEqual([sequence("\u001b[3"), text("\nx")]);
  expect(split("\u001b[3\u0018x")).toEqual([sequence("\u001b[3\u0018"), text("x")]);
  expect(split("\u001bPtmux;\u001b\u001b]52;c;eA==\u0007\u001b\\").map((piece) => piece.text)).toEqual([
    "\u001bPtmux;",
    "\u001b",
    "\u001b]52;c;eA==\u0007",
    "\u001b\\",
  ]);
});

test("nothing is lost, added or told differently, wherever it is cut", () => {
  const parts = [
    "a",
    "漢",
    "\u001b",
    "[",
    "31",
    "m",
    "]",
    "0;t",
    "\u0007",
    "\\",
    "\n",
    "\r",
    "\u0018",
    "\u009b",
    "\u009d",
    "P",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 30 }), fc.nat(), (list, cut) => {
      const whole = list.join("");
      const at = cut % (whole.length + 1);
      const end = "\u0018\u0018";
      const once = split(whole + end);
      expect(once.map((piece) => piece.text).join("")).toBe(whole + end);
      const joined = (pieces: readonly TerminalPiece[]): string =>
        pieces.map((piece) => (piece.kind === "text" ? piece.text : `<${piece.text}>`)).join("");
      expect(joined(split(whole.slice(0, at), whole.slice(at) + end))).toBe(joined(once));
    }),
  );
});

test("a sequence without an end takes no memory, and what follows it is there", () => {
  const splitter = createTerminalSplitter();
  expect(splitter.push("\u001b]0;")).toEqual([]);
  for (let round = 0; round < 20; round += 1) expect(splitter.push("x".repeat(100_000))).toEqual([]);
  expect(splitter.push("\u0007after")).toEqual([text("after")]);
});
