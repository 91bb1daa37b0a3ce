import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Composer, isShownAs, parseComposer, readComposer, withoutTerminalAnswer } from "./composer.ts";

const TOML = `
[composer]
bottom = 3
empty = ['^> ▮$']
unless = ['^search:']
text = '^> (.*(?:\\n  .*)*)'
pasted = '\\[Pasted (\\d+) lines\\]'
clear = ["C-u", "BSpace"]
`;

let composer: Composer;
beforeAll(async () => {
  composer = (await parseComposer(TOML)) as Composer;
});

describe("readComposer", () => {
  test.each([
    ["> ▮", { state: "empty" }],
    ["> ▮\nsearch: x", { state: "absent" }],
    [">", { state: "absent" }],
    ["> ▯", { state: "absent" }],
    ["> half a thought▮", { state: "text", text: "half a thought" }],
    ["> one\n  two▮", { state: "text", text: "one\n  two" }],
    ["> above the last lines▮\n\n\n\n", { state: "absent" }],
    ["Choose:\n  1. Yes\n  2. No", { state: "absent" }],
  ])("%j", (solid, standing) => {
    expect(readComposer(composer, solid)).toEqual(standing);
  });
});

describe("an old frame above the composer", () => {
  const begins = `${TOML}begins = '^─{4}'`.replace("bottom = 3", "bottom = 8");
  const old = "────\n> ▮\nfooter";
  const cases: readonly [string, string, object][] = [
    ["an empty one hides no text", "────\n> [Pasted 3 lines]\nfooter", { state: "text", text: "[Pasted 3 lines]" }],
    ["an empty one hides no dialog", "────\nChoose: 1. Yes", { state: "absent" }],
    ["one that was being searched hides no composer", "────\n> ▮\nfooter", { state: "empty" }],
  ];
  test.each(cases)("%s", async (_what, last, standing) => {
    const parsed = (await parseComposer(begins)) as Composer;
    expect(readComposer(parsed, `${old}\n${last}`)).toEqual(standing);
    expect(readComposer(parsed, `search:\n${last}`)).toEqual(standing);
  });
});

describe("isShownAs", () => {
  const long = Array.from({ length: 50 }, (_, index) => `line ${index} of many`).join("\n");
  test.each([
    ["as it is", "fix the bug", "fix the bug", true],
    ["wrapped and indented", "fix the bug in the parser", "fix the bug\n  in the parser", true],
    ["tabs as blanks", "a\tb", "a    b", true],
    ["characters that are drawn otherwise", "done 👩‍👩‍👧 ✔", "done ✔", true],
    ["with something in front", "beta", "alphabeta", false],
    ["with something behind it", "beta", "beta gamma", false],
    ["only its beginning", "fix the bug in the parser", "fix the bug", false],
    ["another text", "yes", "no", false],
    ["its marker", "1\n2\n3", "[Pasted 3 lines]", true],
    ["a marker with another count", "1\n2\n3", "[Pasted 7 lines]", false],
    ["its marker with something behind it", "1\n2\n3", "[Pasted 3 lines] and more", false],
    ["the end of what is too long for it", long, long.slice(-400), true],
  ])("%s", (_what, typed, shown, isShown) => {
    expect(isShownAs(composer, typed, shown)).toBe(isShown);
  });
});

describe("parseComposer", () => {
  test.each([
    ["[composer]\nempty = ['a']", "both empty and text are needed"],
    ["[composer]\ntext = 'a'", "both empty and text are needed"],
    ["[composer]\nempty = ['a']\ntext = 'a'\ncolour = 'red'", "there is no field colour"],
    ["[composer]\nempty = ['a']\ntext = 'a'\nclear = ['Enter']", "clear knows only the keys"],
    ["[composer]\nempty = ['(']\ntext = 'a'", "is not a pattern"],
    ["[[composer]]\nempty = ['a']", "must be a table"],
  ])("%j is refused", async (toml, why) => {
    await expect(parseComposer(toml)).rejects.toThrow(why);
  });

  test("a file without one has none, and every agent that is typed into has one", async () => {
    expect(await parseComposer("")).toBeNull();
    for (const agent of ["claude", "codex", "gemini", "practice"]) {
      const toml = readFileSync(join(import.meta.dirname, "..", "..", "rules", `${agent}.toml`), "utf8");
      expect(await parseComposer(toml), agent).not.toBeNull();
    }
  });
});

describe("withoutTerminalAnswer", () => {
  test.each([">|tmux 3.3a1;2c", ">|tmux 3.5", "1;2c", "?62;4c", ">84;0;0c", "]11;rgb:1e1e/1e1e/1e1e", "0u"])(
    "leaves nothing of %s",
    (shown) => expect(withoutTerminalAnswer(` ${shown} `)).toContain(""),
  );

  test.each(["tmux 3.3a", ">|tmux 3.3a1;2c and now", "1;2", "c", "run 1;2c"])(
    "takes %j for what somebody wrote",
    (shown) => expect(withoutTerminalAnswer(shown)).not.toContain(""),
  );

  test.each([">|tmux 3.3a1;2cour own text", "our own text>|tmux 3.3a1;2c"])(
    "finds what stands beside it in %j",
    (shown) => expect(withoutTerminalAnswer(shown)).toContain("our own text"),
  );
});
