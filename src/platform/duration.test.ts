import { expect, test } from "vitest";
import { durationMs, durationText } from "./duration.ts";

test.each([
  ["90s", 90_000],
  ["30m", 1_800_000],
  ["1h30m", 5_400_000],
  ["2 h", 7_200_000],
  ["5 min", 300_000],
  ["1.5d", 129_600_000],
  ["30", null],
  ["soon", null],
  ["-5m", null],
  ["5m!", null],
  ["", null],
])("%s is %s ms", (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each([
  [1_000, "1 second"],
  [90_000, "90 seconds"],
  [900_000, "15 minutes"],
  [3_600_000, "1 hour"],
  [172_800_000, "2 days"],
  [1_500, "1.5 seconds"],
  [0, "0 seconds"],
])("%s ms are %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
