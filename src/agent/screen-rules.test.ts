import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeScreenRules, parseScreenRules, readScreen } from "./screen-rules.ts";

const rules = await parseScreenRules(String.raw`
[[rule]]
name = "approval"
bottom = 4
screen = ['^Would you like', '^› 1\. Yes']
unless = '^already answered'
activity = "awaiting-approval"
asks = '^ *\$ (.+)$'

[[rule]]
name = "failed"
screen = '^■ '
activity = "idle"
turn = "failed"
error = '^■ (.+)$'

[[rule]]
name = "interrupted"
screen = '^Interrupted'
activity = "idle"
turn = "interrupted"

[[rule]]
name = "trust"
screen = 'trust'
activity = "awaiting-input"
asks_text = "Trust this folder?"

[[rule]]
name = "spinner"
title = '^[⠀-⣿] '
activity = "working"

[[rule]]
name = "never"
title = 'x'
screen = 'y'
activity = "unknown"
`);

const read = (text: string, options: { readonly title?: string; readonly version?: string } = {}) =>
  readScreen(rules, { text, title: options.title ?? "" }, options.version ?? null);

describe("reading a screen", () => {
  test("the first rule that holds wins, and all its patterns must be found", () => {
    const dialog = "Would you like\n  $ rm -r x\n› 1. Yes\ntrust";
    expect(read(dialog)).toEqual({
      rule: "approval",
      reading: { source: "screen", detail: "rule approval", activity: "awaiting-approval", asks: "rm -r x", dialog },
    });
    expect(read("Would you like\n trust")?.rule).toBe("trust");
    expect(read("nothing of all this")).toBeNull();
    expect(read("")).toBeNull();
  });

  test("none of the exceptions may be found", () => {
    expect(read("Would you like\n› 1. Yes\nalready answered")).toBeNull();
  });

  test("only the last lines count where a rule says so; blank ones at the end do not", () => {
    const question = "Would you like\n› 1. Yes";
    expect(read(`${question}\n\n   \n\n\n\n`)?.rule).toBe("approval");
    expect(read(`${question}\nmore\nmore`)?.rule).toBe("approval");
    expect(read(`${question}\nmore\nmore\nmore`)).toBeNull();
  });

  test("what asks is not found says nothing of what is asked", () => {
    expect(read("Would you like\n› 1. Yes")?.reading).not.toHaveProperty("asks");
  });

  test("a rule counts only for its versions; an unknown version is not held against it", async () => {
    const prompt = await parseScreenRules(
      `[[rule]]\nname = "p"\nversions = ">=1 <2"\nscreen = '^>$'\nactivity = "idle"`,
    );
    const seen = (version: string | null) => readScreen(prompt, { text: ">  ", title: "" }, version)?.rule ?? null;
    expect([seen("1.5.0"), seen("2.0.0"), seen("0.9"), seen(null)]).toEqual(["p", null, null, "p"]);
  });

  test("turns: a failure with its error or without, an interruption", async () => {
    expect(read("■ 429 Too Many Requests")?.reading.turn).toEqual({ phase: "failed", error: "429 Too Many Requests" });
    expect(read("■ ")).toBeNull();
    expect(read("Interrupted")?.reading).toEqual({
      source: "screen",
      detail: "rule interrupted",
      activity: "idle",
      turn: { phase: "interrupted" },
    });
    const silent = await parseScreenRules(`[[rule]]\nname = "f"\nscreen = 'no'\nactivity = "idle"\nturn = "failed"`);
    expect(readScreen(silent, { text: "no", title: "" }, null)?.reading.turn).toEqual({
      phase: "failed",
      error: "its screen shows an error",
    });
  });

  test("our own words for what is asked", () => {
    expect(read("do you trust it")?.reading).toMatchObject({ activity: "awaiting-input", asks: "Trust this folder?" });
  });

  test("a title alone is enough, and is the evidence", () => {
    expect(read("", { title: "⠋ reeve" })).toEqual({
      rule: "spinner",
      reading: { source: "screen", detail: 'rule spinner: title "⠋ reeve"', activity: "working" },
    });
    expect(read("y", { title: "x" })).toMatchObject({ rule: "never", reading: { detail: "rule never" } });
    expect([read("y"), read("", { title: "x" })]).toEqual([null, null]);
  });

  test("no text, title or version makes it throw", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("Would you like", "› 1. Yes", "> ", "■ x", "trust", "\u001b[2J", "\ud800"),
    );
    fc.assert(
      fc.property(fc.array(line), line, fc.option(fc.string()), (lines, title, version) => {
        const verdict = readScreen(rules, { text: lines.join("\n"), title }, version);
        expect(verdict === null || rules.some(({ name }) => name === verdict.rule)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("parsing rules", () => {
  const rule = (fields: string): string =>
    `[[rule]]\nname = "good"\nscreen = "x"\nactivity = "idle"\n\n[[rule]]\n${fields}`;

  test("nothing is no rule", async () => {
    expect(await parseScreenRules("")).toEqual([]);
  });

  test("one pattern is a list of one, and all is kept", async () => {
    expect(await parseScreenRules(`[[rule]]\nname = "a"\nscreen = "x"\nactivity = "idle"`)).toEqual([
      {
        name: "a",
        versions: null,
        bottom: null,
        title: null,
        screen: [expect.objectContaining({ source: "x" })],
        unless: [],
        composer: null,
        activity: "idle",
        asks: null,
        asksText: null,
        dialog: null,
        turn: null,
        error: null,
        limit: null,
        resets: null,
        choices: null,
      },
    ]);
  });

  test.each([
    ["activity = 'idle'\nscreen = 'x'", "rule 2: name is missing"],
    ["name = ''\nactivity = 'idle'\nscreen = 'x'", "rule 2: name is missing"],
    ["name = 'a'\nscreen = 'x'", "rule 2: a: activity must be one of starting, working, idle"],
    ["name = 'a'\nscreen = 'x'\nactivity = 'busy'", "rule 2: a: activity must be one of"],
    ["name = 'a'\nactivity = 'idle'", "rule 2: a: needs a title or a screen pattern"],
    ["name = 'a'\nactivity = 'idle'\nunless = 'x'", "rule 2: a: needs a title or a screen pattern"],
    ["name = 'a'\nactivity = 'idle'\nscreen = '('", 'rule 2: a: screen "(" is not a pattern: missing closing )'],
    ["name = 'a'\nactivity = 'idle'\nscreen = ['x', 3]", "rule 2: a: screen must be a pattern or a list of them"],
    [
      "name = 'a'\nactivity = 'idle'\nscreen = 'x'\nunless = ['[']",
      'rule 2: a: unless "[" is not a pattern: missing closing ]',
    ],
    ["name = 'a'\nactivity = 'idle'\ntitle = 3", "rule 2: a: title must be a text"],
    [
      "name = 'a'\nactivity = 'idle'\ntitle = '*'",
      'rule 2: a: title "*" is not a pattern: missing argument to repetition operator',
    ],
    [
      "name = 'a'\nactivity = 'idle'\nscreen = 'x'\nasks = '('",
      'rule 2: a: asks "(" is not a pattern: missing closing )',
    ],
    ["name = 'a'\nactivity = 'idle'\nscreen = 'x'\nasks_text = 1", "rule 2: a: asks_text must be a text"],
    [
      "name = 'a'\nactivity = 'idle'\nscreen = 'x'\nerror = '('",
      'rule 2: a: error "(" is not a pattern: missing closing )',
    ],
    ["name = 'a'\nactivity = 'idle'\nscreen = 'x'\nturn = 'over'", "rule 2: a: turn must be one of started, completed"],
    ["name = 'a'\nactivity = 'idle'\nscreen = 'x'\nbottom = 0", "rule 2: a: bottom must be a number of lines"],
    ["name = 'a'\nactivity = 'idle'\nscreen = 'x'\nbottom = '4'", "rule 2: a: bottom must be a number of lines"],
    ["name = 'a'\nactivity = 'idle'\nscreen = 'x'\nversions = 'new'", 'rule 2: a: versions "new" is not a comparison'],
    [
      "name = 'a'\nactivity = 'idle'\nscreen = 'x'\nversions = '>=1 new'",
      'rule 2: a: versions "new" is not a comparison',
    ],
    ["name = 'a'\nactivity = 'idle'\nscreen = 'x'\nversions = 1", "rule 2: a: versions must be a text"],
    ["name = 'a'\nactivity = 'idle'\nscreen = 'x'\nscren = 'x'", "rule 2: a: there is no field scren"],
    ["scren = 'x'", "rule 2: there is no field scren"],
  ])("%j is refused with the rule and the field", async (fields, why) => {
    await expect(parseScreenRules(rule(fields))).rejects.toThrow(why);
  });

  test.each([
    ["[rules]\nx = 1", "there is no section [rules], only [[rule]] and [composer]"],
    ["rule = 3", "[[rule]] must be a list of tables"],
    ["rule = [3]", "rule 1: name is missing"],
    ["[[rule", "Invalid TOML"],
  ])("%j is refused", async (text, why) => {
    await expect(parseScreenRules(text)).rejects.toThrow(why);
  });
});

describe("the user's rules", () => {
  const named = (name: string, activity: string, pattern = "x") =>
    parseScreenRules(`[[rule]]\nname = "${name}"\nscreen = "${pattern}"\nactivity = "${activity}"`);

  test("come first and replace those of the same name", async () => {
    const shipped = [...(await named("a", "idle")), ...(await named("b", "working"))];
    const merged = mergeScreenRules(shipped, [
      ...(await named("c", "unknown")),
      ...(await named("a", "awaiting-input")),
    ]);
    expect(merged.map(({ name, activity }) => [name, activity])).toEqual([
      ["c", "unknown"],
      ["a", "awaiting-input"],
      ["b", "working"],
    ]);
    expect(readScreen(merged, { text: "x", title: "" }, null)?.rule).toBe("c");
    expect(mergeScreenRules(shipped, [])).toEqual(shipped);
  });
});
