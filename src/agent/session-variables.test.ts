import * as fc from "fast-check";
import { expect, test } from "vitest";
import { scrubEnvironment, FOREIGN_VARIABLES } from "./session-variables.ts";

const everything = Object.values(FOREIGN_VARIABLES).flat();

test("what belongs to another session goes, what the user configured stays", () => {
  const configured = {
    PATH: "/usr/bin",
    ANTHROPIC_API_KEY: "a",
    ANTHROPIC_BASE_URL: "b",
    CLAUDE_CONFIG_DIR: "c",
    CLAUDE_CODE_USE_BEDROCK: "1",
    CLAUDE_CODE_USE_VERTEX: "1",
    CLAUDE_CODE_OAUTH_TOKEN: "d",
    CLAUDE_CODE_MAX_RETRIES: "3",
    CODEX_HOME: "e",
    CODEX_API_KEY: "f",
    OPENAI_API_KEY: "g",
    GEMINI_API_KEY: "h",
    GEMINI_MODEL: "i",
    GEMINI_CLI_HOME: "j",
    PRACTICE_PACE_MS: "50",
    TMUX_TMPDIR: "/tmp",
  };
  const inherited = Object.fromEntries(everything.map((name) => [name, "1"]));
  expect(scrubEnvironment({ ...inherited, ...configured }, everything)).toEqual(configured);
});

test("a trailing star names a prefix, and an unset variable is left out", () => {
  const environment = { AB: "1", ABC: "2", A: "3", XAB: "4", UNSET: undefined };
  expect(scrubEnvironment(environment, ["AB*"])).toEqual({ A: "3", XAB: "4" });
  expect(scrubEnvironment(environment, ["AB"])).toEqual({ ABC: "2", A: "3", XAB: "4" });
  expect(scrubEnvironment(environment, ["*"])).toEqual({});
});

test("every table entry is an exact name", () => {
  expect(everything.filter((name) => !/^[A-Z][A-Z0-9_]*$/.test(name))).toEqual([]);
});

test("nothing is invented, and names that mean something to JavaScript survive", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), fc.array(fc.string()), (environment, patterns) => {
      const kept = scrubEnvironment(environment, patterns);
      for (const [name, value] of Object.entries(kept)) expect(environment[name]).toBe(value);
      expect(scrubEnvironment(kept, patterns)).toEqual(kept);
    }),
  );
  const awkward = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>;
  expect(Object.entries(scrubEnvironment(awkward, []))).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
});
