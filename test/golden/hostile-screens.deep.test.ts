/**
 * What agents show is theirs to choose, so no screen may cost the daemon more
 * than its length. Every shipped pattern is run over screens that
 * are made to hurt: long runs of what it repeats, and what it nearly finds. The
 * time may grow with the size of a screen, not with its square; only growth is
 * compared, never a time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Composer, parseComposer } from "../../src/agent/composer.ts";
import type { Pattern } from "../../src/agent/pattern.ts";
import { parseScreenRules, readScreen, type ScreenRule } from "../../src/agent/screen-rules.ts";

const RULES = join(import.meta.dirname, "..", "..", "rules");
/** A full screen of 200 × 50. */
const SIZE = 10_000;
const FACTOR = 4;
/** Linear is 4, quadratic 16; the engine changes its method once on the way, which costs it a little. */
const MOST_GROWTH = 10;

/** What takes less says nothing about growth. */
const SHORTEST_MS = 1;

const RUNS: readonly string[] = [
  " ",
  "a",
  "─",
  "│ ",
  "  \n",
  "\n",
  "❯ \n",
  "› \n",
  "1. ",
  `${"─".repeat(20)}\n`,
  `${"─".repeat(200)}\n❯ \n`,
  "■ x\n",
  "✕ x\n",
  "  ? for shortcuts\n",
  "✕ x\n  ? for shortcuts\n",
  "ℹ Request cancelled.\n",
  "ℹ Request cancelled.\n  ? for shortcuts\n",
  "Enter to select · ",
  " · Esc to ",
  "• a (1m 1s ",
  "1m 1s 1h ",
  "• a (1s • esc to interrupt)\n",
  "(esc to cancel, ",
];

const files = await Promise.all(
  readdirSync(RULES).map(async (name) => {
    const toml = readFileSync(join(RULES, name), "utf8");
    return { name, rules: await parseScreenRules(toml), composer: await parseComposer(toml) };
  }),
);

describe.each(files)("rules/$name", ({ rules, composer }) => {
  const patterns = [...rules.flatMap(patternsOf), ...(composer === null ? [] : composerPatternsOf(composer))];

  test.each([...RUNS])("a screen full of %j costs no more than its length", (unit) => {
    expect(growth(patterns, (size) => unit.repeat(Math.ceil(size / unit.length)))).toBeLessThan(MOST_GROWTH);
  });

  test.each(patterns.map(({ source }) => source))("what %j nearly finds costs no more either", (source) => {
    const text = nearMiss(source);
    expect(growth(patterns, (size) => text.repeat(Math.ceil(size / text.length)))).toBeLessThan(MOST_GROWTH);
  });

  test("no screen makes a rule throw or hang", () => {
    const piece = fc.oneof(
      fc.constantFrom(...RUNS),
      fc.constantFrom(...patterns.map(({ source }) => nearMiss(source))),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const run = fc.tuple(piece, fc.integer({ min: 1, max: 400 })).map(([text, times]) => text.repeat(times));
    fc.assert(
      fc.property(fc.array(run, { maxLength: 8 }), piece, (runs, title) => {
        const verdict = readScreen(rules, { text: runs.join("").slice(0, SIZE), title }, null, composer);
        expect(verdict === null || rules.some(({ name }) => name === verdict.rule)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

function patternsOf({ title, screen, unless, asks, error }: ScreenRule): readonly Pattern[] {
  return [title, asks, error, ...screen, ...unless].filter((pattern) => pattern !== null);
}

function composerPatternsOf({ empty, unless, text, pasted }: Composer): readonly Pattern[] {
  return [...empty, ...unless, text, ...(pasted === null ? [] : [pasted])];
}

/** Of this process alone, in ms: others may keep the machine busy meanwhile. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * By how much the time of all patterns grows when the screen does, by the fastest of a few runs of each; of more where
 * something else may have taken part of the time.
 */
function growth(patterns: readonly Pattern[], make: (size: number) => string): number {
  const [small, large] = [make(SIZE), make(SIZE * FACTOR)];
  const time = (text: string): number => {
    const since = cpuTime();
    for (const pattern of patterns) pattern.find(text);
    return cpuTime() - since;
  };
  let [ofSmall, ofLarge] = [Infinity, Infinity];
  const grown = (): number => ofLarge / Math.max(ofSmall, SHORTEST_MS);
  for (let run = 0; run < 5 || (run < 30 && grown() >= MOST_GROWTH); run++) {
    ofSmall = Math.min(ofSmall, time(small));
    ofLarge = Math.min(ofLarge, time(large));
  }
  return grown();
}

/** A text that the pattern finds, less its end: the engine must look at all of it to be sure. */
function nearMiss(source: string): string {
  // The generator knows neither of these two.
  const known = source.replaceAll("\\z", "$").replaceAll("\\b", "");
  const [text = ""] = fc.sample(fc.stringMatching(new RegExp(known, "u")), { numRuns: 1, seed: 7 });
  return `${text.slice(0, -1)}\n`;
}
