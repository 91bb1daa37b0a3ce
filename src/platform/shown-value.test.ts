import { expect, test } from "vitest";
import { showName, showValue } from "./shown-value.ts";

test.each([
  [3.5, "3.5"],
  ["yes", '"yes"'],
  [["1", "2"], '["1","2"]'],
  [null, "null"],
  [undefined, "nothing"],
  ["\u001b[31mred\u009b0m", '"\\u001b[31mred\\u009b0m"'],
  ["pay\u202eload", '"pay<U+202E>load"'],
  ["x".repeat(1_000_000), `"${"x".repeat(59)}…`],
])("a value is shown as JSON, short and visible: %#", (value, expected) => {
  expect(showValue(value)).toBe(expected);
});

test.each([
  ["[".repeat(100_000) + "]".repeat(100_000), `${"[".repeat(60)}…`],
  [`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, `${'{"a":'.repeat(12)}…`],
  [`[${"1,".repeat(1_000_000)}1]`, `[${"1,".repeat(29)}1…`],
])("a value is shown however deep or long it is: %#", (json, expected) => {
  expect(showValue(JSON.parse(json))).toBe(expected);
});

test("a name is shown in quotation marks, short and visible", () => {
  expect(showName("tale")).toBe('"tale"');
  expect(showName("a\u001b]0;x\u0007\u200bb")).toBe('"a\\u001b]0;x\\u0007<U+200B>b"');
  expect(showName("é".repeat(100))).toBe(`"${"é".repeat(60)}…"`);
});
