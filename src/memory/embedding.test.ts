import { expect, it } from "vitest";
import { DIMENSIONS, embed } from "./embedding.ts";

const likeness = (one: string, other: string): number => {
  const vector = embed(other);
  return embed(one).reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0);
};

it("is always the same, of one length, and nearer for texts that share words or parts of words", () => {
  expect(embed("The parser tests")).toEqual(embed("the PARSER tests"));
  expect(embed("x")).toHaveLength(DIMENSIONS);
  expect(likeness("the parser tests", "the parser tests")).toBeCloseTo(1);
  expect(likeness("testing the parsers", "the parser tests")).toBeGreaterThan(
    likeness("a cat on a mat", "the parser tests") + 0.2,
  );
  expect(embed("").every((value) => value === 0)).toBe(true);
});
