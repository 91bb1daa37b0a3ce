/** What a page mentions within a sentence or a table exists, too: the command, and each of its options. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/surface/cli/commands.ts";
import { optionsOf } from "../../src/surface/cli/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const pages = globSync(["README.md", "docs/guide/**/*.md", "docs/spec/*.md", "docs/spec/agent-behaviors/*.md"], {
  cwd: ROOT,
});

/** `reeve …` in backticks, less those of generated documents: they quote the code. */
function mentionsIn(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  if (text.includes("<!-- Made by")) return [];
  return [...text.matchAll(/`reeve ([a-z][^`]*)`/g)].map((found) => found[1] ?? "");
}

describe.each(pages.filter((page) => mentionsIn(page).length > 0))("%s", (page) => {
  test.each([...new Set(mentionsIn(page))])("reeve %s", (mention) => {
    const [words = ""] = mention.split(/ \[?-- |[|&;]/);
    const [name, ...rest] = words.split(" ");
    const command = commands.find((candidate) => candidate.name === name);
    expect(command, `there is no command ${name}`).toBeDefined();
    const known = command === undefined ? [] : optionsOf(command).map((option) => `--${option.name}`);
    expect(rest.filter((word) => word.startsWith("--")).filter((word) => !known.includes(word))).toEqual([]);
  });
});
