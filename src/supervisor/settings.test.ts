import { expect, test } from "vitest";
import { defaultSettings, parseSettings, readSettings } from "./settings.ts";

test("what is not said keeps its default; seconds become milliseconds", () => {
  expect(parseSettings("")).toEqual(defaultSettings);
  expect(parseSettings("[sessions]\nend_grace_seconds = 0.5\noutput_log_bytes = 10\n")).toEqual({
    ...defaultSettings,
    endGraceMs: 500,
    outputLogBytes: 10,
  });
  expect(readSettings("/no/such/config.toml")).toEqual(defaultSettings);
});

test.each([
  ["[sessions]\ngrace = 1", "there is no setting grace"],
  ["[other]\n", "there is no section [other]"],
  ["[sessions]\nend_grace_seconds = -1", "end_grace_seconds must be a number that is not negative"],
  ["[sessions]\nend_grace_seconds = 'x'", "end_grace_seconds must be a number that is not negative"],
  ["sessions = 3", "[sessions] must be a table"],
])("%j is refused", (text, why) => {
  expect(() => parseSettings(text)).toThrow(why);
});
