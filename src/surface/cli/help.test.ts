import { describe, expect, it } from "vitest";
import { parseLine } from "./command-line.ts";
import { commands } from "./commands.ts";
import { commandHelp, overview } from "./help.ts";

describe("overview", () => {
  it("names every command that is not hidden", () => {
    const text = overview(commands);
    for (const command of commands) expect(text.includes(`\n  ${command.name} `)).toBe(command.isHidden !== true);
  });
});

describe("commandHelp", () => {
  for (const command of commands.filter((candidate) => candidate.isHidden !== true)) {
    it(`of ${command.name} names all its options, and its examples are right`, () => {
      const text = commandHelp(command);
      for (const option of command.options) expect(text).toContain(`--${option.name}`);
      expect(text).toContain("--json");
      expect(command.examples.length).toBeGreaterThan(0);
      for (const { line } of command.examples) {
        const words = wordsOf(line);
        expect(words.slice(0, 2)).toEqual(["reeve", command.name]);
        parseLine(command, words.slice(2));
      }
    });
  }
});

/** The part of a shell line that calls reeve, in words; what is added to another program by that name is no call. */
function wordsOf(line: string): string[] {
  const call = /(?<!add )reeve [^|)&]*/.exec(line)?.[0] ?? "";
  return [...call.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
}
