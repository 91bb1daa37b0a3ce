import { expect, test } from "vitest";
import { agoOfKeyMs, endOfSecond } from "./last-key.ts";

const SECOND = 1_700_000_000;
const now = SECOND * 1_000 + 200;

test("a key of this very second was pressed now, not in the future", () => {
  expect(agoOfKeyMs(endOfSecond(SECOND), now)).toBe(0);
});

test("of an earlier second it is as long ago as its end", () => {
  expect(agoOfKeyMs(endOfSecond(SECOND - 1), now)).toBe(200);
  expect(agoOfKeyMs(endOfSecond(SECOND - 3), now)).toBe(2_200);
});

test("one of a later second says that somebody set the clock; without any there is nothing to tell", () => {
  expect(agoOfKeyMs(endOfSecond(SECOND + 1), now)).toBeNull();
  expect(agoOfKeyMs(endOfSecond(SECOND + 3_600), now)).toBeNull();
  expect(agoOfKeyMs(null, now)).toBeNull();
});
