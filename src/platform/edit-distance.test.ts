/** One measure for names of sessions, commands and options. */
import { expect, it } from "vitest";
import { editDistance } from "./edit-distance.ts";

it.each([
  ["", "abc", 3],
  ["list", "list", 0],
  ["lsit", "list", 1],
  ["wiat", "wait", 1],
  ["kitten", "sitting", 3],
])("%j and %j are %i apart", (a, b, expected) => {
  expect(editDistance(a, b)).toBe(expected);
});
