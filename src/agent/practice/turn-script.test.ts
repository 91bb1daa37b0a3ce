import * as fc from "fast-check";
import { expect, test } from "vitest";
import { scriptOf } from "./turn-script.ts";

test.each([
  ["quit", { type: "quit" }],
  ["  /quit\n", { type: "quit" }],
  ["crash now", { type: "crash" }],
  ["ask rm -rf build\nplease", { type: "ask", commands: ["rm -rf build\nplease"] }],
  ["ask", { type: "ask", commands: ["echo hello"] }],
  ["ask-both rm a | rm b", { type: "ask", commands: ["rm a", "rm b"] }],
  ["fail out of tokens", { type: "fail", error: "out of tokens", failure: "unknown" }],
  ["FAIL", { type: "fail", error: "The practice model was told to fail.", failure: "unknown" }],
  ["fail billing pay first", { type: "fail", error: "pay first", failure: "billing" }],
  ["fail crash", { type: "fail", error: "crash", failure: "unknown" }],
  ["limit 20s and go on", { type: "limit", limit: "requests", resetsInMs: 20_000, isSaid: true }],
  ["limit 1.5 of tokens", { type: "limit", limit: "tokens", resetsInMs: 1500, isSaid: true }],
  ["limit 3s unsaid", { type: "limit", limit: "requests", resetsInMs: 3000, isSaid: false }],
  ["used 83", { type: "used", percent: 83, lines: ["83 % of the practice limit is used."] }],
  ["sleep 2.5 then say hi", { type: "sleep", ms: 2500, lines: ["Slept 2.5 s."] }],
  ["sleep 999999999", { type: "sleep", ms: 86_400_000, lines: ["Slept 86400 s."] }],
  ["spam 3.7", { type: "spam", count: 3 }],
  ["spam 999999999", { type: "spam", count: 100_000 }],
])("%j", (prompt, script) => {
  expect(scriptOf(prompt)).toEqual(script);
});

test.each([
  "quit smoking",
  "sleep well",
  "sleep 5x",
  "limit the damage",
  "limit 5x",
  "used books",
  "used 101",
  "spam",
  "hello",
  "asking",
  "ask-both one",
  "constructor",
  "",
])("%j is only talked about", (prompt) => {
  expect(scriptOf(prompt).type).toBe("reply");
});

test("a reply repeats the first words, however long the prompt", () => {
  expect(scriptOf(`one two\nthree ${"x ".repeat(1_000_000)}`)).toEqual({
    type: "reply",
    lines: [
      'You said: "one two three x x x x x".',
      "I thought about it.",
      "Nothing was changed: this is only practice.",
    ],
  });
  fc.assert(fc.property(fc.string({ unit: "binary" }), (prompt) => void scriptOf(prompt)));
});
