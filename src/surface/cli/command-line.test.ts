import { describe, expect, it } from "vitest";
import { findCommand, parseLine } from "./command-line.ts";
import type { CliCommand } from "./command.ts";
import { commands } from "./commands.ts";

const command: CliCommand = {
  name: "try",
  summary: "try it",
  arguments: [{ name: "agent" }, { name: "prompt", isOptional: true }],
  options: [
    { name: "name", value: "NAME", summary: "" },
    { name: "for", value: "REASON", summary: "", isRepeatable: true, choices: ["a", "b"] },
    { name: "tail", value: "BYTES", summary: "", type: "number" },
    { name: "no-enter", summary: "" },
  ],
  rest: "arguments...",
  examples: [],
  run: async () => 0,
};

function parse(words: readonly string[], of: CliCommand = command): object {
  const { input, ...rest } = parseLine(of, words);
  const options = {
    name: input.text("name"),
    for: input.texts("for"),
    tail: input.number("tail"),
    noEnter: input.flag("no-enter"),
  };
  return { arguments: input.arguments, rest: input.rest, ...options, ...rest };
}

const nothing = {
  rest: [],
  name: undefined,
  for: [],
  tail: undefined,
  noEnter: false,
  isJson: false,
  wantsHelp: false,
};

describe("parseLine", () => {
  it("takes options anywhere, with a space or an equals sign", () => {
    expect(
      parse(["--name", "x", "codex", "--for=a", "do it", "--for", "b", "--no-enter", "--tail=-3", "--json"]),
    ).toEqual({
      ...nothing,
      arguments: ["codex", "do it"],
      name: "x",
      for: ["a", "b"],
      tail: -3,
      noEnter: true,
      isJson: true,
    });
  });

  it("leaves everything after -- alone", () => {
    expect(parse(["command", "--", "sh", "--name", "x", "--", "-h"])).toEqual({
      ...nothing,
      arguments: ["command"],
      rest: ["sh", "--name", "x", "--", "-h"],
    });
  });

  it("takes what follows -- as arguments where a command has no other use for it", () => {
    const { rest: _rest, ...plain } = command;
    expect(parse(["a", "--", "--name"], plain)).toEqual({ ...nothing, arguments: ["a", "--name"] });
  });

  it("takes text that only looks a little like an option as text", () => {
    expect(parse(["codex", "- fix it"])).toMatchObject({ arguments: ["codex", "- fix it"] });
    expect(parse(["codex", "--help me please"])).toMatchObject({ arguments: ["codex", "--help me please"] });
    expect(parse(["codex", "-"])).toMatchObject({ arguments: ["codex", "-"] });
    expect(parse(["codex", "-1"])).toMatchObject({ arguments: ["codex", "-1"] });
    expect(parse(["codex", "--name=a\nb"])).toMatchObject({ name: "a\nb" });
    expect(parse(["codex", "--name="])).toMatchObject({ name: "" });
  });

  it("asks for help without asking for arguments", () => {
    expect(parse(["-h"])).toMatchObject({ wantsHelp: true });
    expect(parse(["--help"])).toMatchObject({ wantsHelp: true });
  });

  it.each([
    [["a", "--nme", "x"], "unknown-option", "try has no option --nme; did you mean --name?"],
    [["a", "--fo=a"], "unknown-option", "try has no option --fo; did you mean --for?"],
    [["a", "--zzz"], "unknown-option", "try has no option --zzz; see reeve try --help."],
    [["a", "-x"], "unknown-option", "try has no option -x; see reeve try --help."],
    [["a", "--name"], "missing-value", "--name needs a value: --name NAME."],
    [["a", "--name", "--json"], "missing-value", "--name needs a value: --name NAME."],
    [["a", "--name", "x", "--name", "y"], "option-twice", "--name was given twice; give it once."],
    [["a", "--no-enter=1"], "unexpected-value", '--no-enter takes no value; leave out "=1".'],
    [["a", "--for", "luck"], "bad-value", '--for takes one of a, b, not "luck".'],
    [["a", "--tail", "1e3"], "bad-value", '--tail takes a number, not "1e3".'],
    [[], "missing-argument", "try needs an agent; usage: reeve try <agent> [prompt] [options] [-- arguments...]"],
    [
      ["a", "b", "c"],
      "unexpected-argument",
      'try does not know what to do with "c"; put text with spaces in quotes. Usage: reeve try <agent> [prompt] [options] [-- arguments...]',
    ],
  ])("refuses %j", (words, code, message) => {
    expect(() => parse(words)).toThrow(expect.objectContaining({ code, kind: "usage", exitStatus: 2, message }));
  });
});

describe("a command with several actions", () => {
  const queue: CliCommand = {
    name: "queue",
    summary: "try it",
    arguments: [
      { name: "action", isOptional: true, choices: ["list", "add", "drop"] },
      { name: "what", isOptional: true, isRepeated: true },
    ],
    actions: {
      list: { summary: "", words: "", least: 0, most: 0, options: ["state"] },
      add: { summary: "", words: "TITLE", least: 1, most: 1, needs: "a title", options: ["priority", "force"] },
      drop: { summary: "", words: "ID...", least: 1, most: Infinity, needs: "an id", options: ["force"] },
    },
    options: [
      { name: "state", value: "STATE", summary: "" },
      { name: "priority", value: "PRIORITY", summary: "" },
      { name: "force", summary: "" },
    ],
    examples: [],
    run: async () => 0,
  };

  it.each([
    [[]],
    [["--state", "open", "--json"]],
    [["list", "--state", "open"]],
    [["add", "x", "--priority", "1", "--force"]],
    [["drop", "a", "b", "c"]],
    [["add", "--state", "open", "--help"]],
  ])("takes %j", (words) => {
    expect(() => parseLine(queue, words)).not.toThrow();
  });

  it.each([
    [["--force"], "unknown-option", "queue list has no option --force; it belongs to queue add and queue drop."],
    [["add", "x", "--state=open"], "unknown-option", "queue add has no option --state; it belongs to queue list."],
    [["add"], "missing-argument", "queue add needs a title; see reeve queue add --help."],
    [["add", "--force"], "missing-argument", "queue add needs a title; see reeve queue add --help."],
    [
      ["add", "x", "y"],
      "unexpected-argument",
      'queue add does not know what to do with "y"; put text with spaces in quotes.',
    ],
    [
      ["list", "x"],
      "unexpected-argument",
      'queue list does not know what to do with "x"; put text with spaces in quotes.',
    ],
    [["ad"], "bad-value", '"ad" is not an action of queue; did you mean add?'],
  ])("refuses %j", (words, code, message) => {
    expect(() => parseLine(queue, words)).toThrow(expect.objectContaining({ code, kind: "usage", message }));
  });
});

it("says where to find the worktree that is missing", () => {
  const worktree = findCommand(commands, "worktree");
  for (const action of ["remove", "save"])
    expect(() => parseLine(worktree, [action])).toThrow(
      expect.objectContaining({
        code: "missing-argument",
        message: `worktree ${action} needs a worktree (reeve worktree list shows them); see reeve worktree ${action} --help.`,
      }),
    );
});

describe("findCommand", () => {
  it("finds each by its name", () => {
    for (const known of commands) expect(findCommand(commands, known.name)).toBe(known);
  });

  it.each([
    ["lsit", 'There is no command "lsit"; did you mean list?'],
    ["atach", 'There is no command "atach"; did you mean attach?'],
    ["frobnicate", 'There is no command "frobnicate"; see reeve help.'],
  ])("suggests for %s", (name, message) => {
    expect(() => findCommand(commands, name)).toThrow(message);
  });
});
