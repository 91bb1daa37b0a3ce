import { expect, it } from "vitest";
import { ALIASES, unalias } from "./aliases.ts";
import { commands } from "./commands.ts";
import { wantsColour } from "./output.ts";

it("mean a command that there is, and hide none", () => {
  const names = commands.map(({ name }) => name);
  for (const [alias, [meant = ""]] of ALIASES) {
    expect(names).not.toContain(alias);
    if (meant !== "--version") expect(names).toContain(meant);
  }
});

it.each([
  [
    ["kill", "a"],
    ["end", "--when", "now", "a"],
  ],
  [
    ["next-work", "--json"],
    ["work", "next", "--json"],
  ],
  [["status"], ["list"]],
  [
    ["status", "--json"],
    ["list", "--json"],
  ],
  [
    ["status", "a"],
    ["explain", "a"],
  ],
  [
    ["data", "ls"],
    ["data", "ls"],
  ],
])("%j is %j", (words, meant) => {
  expect(unalias(words)).toEqual(meant);
});

it.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: "1" }, true, false],
  [{ TERM: "dumb" }, true, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "0" }, true, false],
])("with %j and a terminal: %j, colours: %j", (environment, isTerminal, isColoured) => {
  expect(wantsColour(environment, isTerminal)).toBe(isColoured);
});
