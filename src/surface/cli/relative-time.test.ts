import { expect, it } from "vitest";
import { relativeTime } from "./relative-time.ts";

const now = Date.parse("2026-11-15T12:00:00Z");

it.each([
  ["2026-11-15T11:59:59.000Z", "just now"],
  ["2026-11-15T12:00:01.500Z", "just now"],
  ["2026-11-15T11:59:15.000Z", "45 s ago"],
  ["2026-11-15T11:57:00.000Z", "3 min ago"],
  ["2026-11-15T09:30:00.000Z", "2 h ago"],
  ["2026-11-01T12:00:00.000Z", "14 d ago"],
  ["2026-11-15T12:00:30.000Z", "in 30 s"],
  [null, "-"],
  ["nonsense", "-"],
])("%s is %s", (at, expected) => {
  expect(relativeTime(at, now)).toBe(expected);
});
