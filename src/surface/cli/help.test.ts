import { describe, expect, it } from "vitest";
import { optionsOfAction } from "./command-action.ts";
import { findCommand, parseLine } from "./command-line.ts";
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

describe("commandHelp of one action", () => {
  const of = (name: string, action?: string): string => commandHelp(findCommand(commands, name), action);

  for (const command of commands.filter(({ actions }) => actions !== undefined)) {
    const names = Object.keys(command.actions ?? {});

    it(`each option of ${command.name} belongs to an action, and is in the help of exactly those`, () => {
      for (const { name } of command.options) {
        const owners = names.filter((action) => command.actions?.[action]?.options.includes(name));
        expect(owners).not.toEqual([]);
        expect(names.filter((action) => of(command.name, action).includes(`--${name} `))).toEqual(owners);
      }
    });

    it(`the help of each action of ${command.name} says something about each of its options`, () => {
      for (const action of names)
        expect(optionsOfAction(command, action).map(({ summary }) => summary)).not.toContain("");
    });

    it(`the help of ${command.name} names all its actions`, () => {
      for (const action of names) expect(of(command.name)).toMatch(new RegExp(`^ {2}${action} `, "m"));
    });
  }

  it("says of an option only what is true for this action", () => {
    expect(of("work", "list")).toMatch(/--agent AGENT +only for this agent$/m);
    expect(of("work", "add")).toMatch(/--agent AGENT +the agent that must do it$/m);
  });

  it("shows its own examples", () => {
    expect(of("mail", "send")).toContain("git diff | reeve mail send role:reviewer --subject diff");
    expect(of("mail", "send")).not.toContain("reeve mail search");
  });

  it("is the help of the command if there is no such action", () => {
    expect(of("work", "ad")).toBe(of("work"));
  });
});

/** The part of a shell line that calls reeve, in words; what is added to another program by that name is no call. */
function wordsOf(line: string): string[] {
  const call = /(?<!add )reeve [^|)&]*/.exec(line)?.[0] ?? "";
  return [...call.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, ...word]) => word.find((part) => part !== undefined) ?? "",
  );
}
