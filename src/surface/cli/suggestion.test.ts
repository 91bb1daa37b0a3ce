import { expect, it } from "vitest";
import { didYouMean, distance } from "./suggestion.ts";

it.each([
  ["", "abc", 3],
  ["list", "list", 0],
  ["lsit", "list", 1],
  ["wiat", "wait", 1],
  ["kitten", "sitting", 3],
])("%j and %j are %i apart", (a, b, expected) => {
  expect(distance(a, b)).toBe(expected);
});

it("suggests only what is near", () => {
  expect(didYouMean("--timout", ["--timeout", "--since"])).toBe("did you mean --timeout?");
  expect(didYouMean("--xyz", ["--timeout", "--since"])).toBeNull();
});
