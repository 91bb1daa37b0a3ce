import { expect, test } from "vitest";
import { countMiss, isEnough } from "./misses.ts";

test("one miss is no verdict, two in a row are, and an answer forgets both", () => {
  const once = countMiss(0, true);
  const twice = countMiss(once, true);
  expect([isEnough(once), isEnough(twice), isEnough(countMiss(twice, false))]).toEqual([false, true, false]);
});
