import { expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import { readUserArguments } from "./user-arguments.ts";

test.each([
  [[], { rest: [], settings: null }],
  [["--permission-mode", "plan", "--verbose"], { rest: ["--permission-mode", "plan", "--verbose"], settings: null }],
  [["--settings", "mine.json", "--ide"], { rest: ["--ide"], settings: "mine.json" }],
  [['--settings={"a":1}'], { rest: [], settings: '{"a":1}' }],
  [["--settings", "first.json", "--settings", "last.json"], { rest: [], settings: "last.json" }],
])("%j", (args, expected) => {
  expect(readUserArguments(args)).toEqual(expected);
});

test.each([
  [["--print"]],
  [["-p", "question"]],
  [["--session-id", "x"]],
  [["--resume=x"]],
  [["-c"]],
  [["--bg"]],
  [["--bare"]],
  [["--verbose", "--", "prompt"]],
  [["mcp", "list"]],
])("%j is refused", (args) => {
  expect(() => readUserArguments(args)).toThrow(ReeveError);
});

test("a refusal says what to do", () => {
  expect(() => readUserArguments(["--resume", "x"])).toThrow(
    "Claude Code cannot be given --resume here: Reeve chooses the conversation itself and resumes it on restart; leave it out.",
  );
});
