import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { MOST_PACKED, PACKED_VARIABLE, packArguments } from "./packed-arguments.ts";
import { WRAPPER_SCRIPT } from "./wrapper-script.ts";

const SAYS =
  "process.stdout.write(JSON.stringify([process.argv.slice(1), Object.keys(process.env).filter((name) => name.startsWith('REEVE_'))]))";
/** What no shell may touch: quotes, patterns, expansions, line ends, spaces at the edges, nothing at all, every byte of UTF-8. */
const awkward = [
  "",
  " a  b ",
  "*",
  "~",
  "$HOME `id` $(id)",
  "\\ \\\\ \\n",
  'it\'s "so"',
  "\n",
  "\t",
  "-n",
  "--",
  "=",
  "",
];
const letters = Array.from({ length: 2_000 }, (_, index) => String.fromCodePoint(0xa0 + index * 9)).join("");

/** The arguments as a program gets them that the wrapper starts, and the variables of Reeve's that it is left with. */
function started(argv: readonly string[]): unknown {
  const { words, variables } = packArguments([process.execPath, "-e", SAYS, "--", ...argv]);
  const { stdout } = spawnSync("/bin/sh", ["-c", WRAPPER_SCRIPT, "reeve", "mark", "", "/", ...words], {
    env: { PATH: process.env["PATH"], ...variables },
    encoding: "utf8",
    maxBuffer: 16_000_000,
  });
  return JSON.parse(stdout);
}

describe("a command on its way through tmux", () => {
  it("stands on the command line as it is where it is small", () => {
    expect(packArguments(["sh", "-c", "true"])).toEqual({ words: ["", "sh", "-c", "true"], variables: {} });
    expect(started(awkward)).toEqual([awkward, []]);
  });

  it("is packed into a few variables where it is large, and arrives word for word", () => {
    const argv = [
      ...awkward,
      ...Array.from({ length: 600 }, (_, index) => `${index} ${letters.slice(index)}`.slice(0, 900)),
      ...awkward,
    ];
    const { words, variables } = packArguments(argv);
    expect(words).toHaveLength(1);
    expect(Object.keys(variables).length).toBeLessThan(20);
    expect(started(argv)).toEqual([argv, []]);
  });

  it("fits its variables whenever it can be started at all", () => {
    const { variables } = packArguments(Array.from({ length: 16 }, () => "é".repeat(62_000)));
    const names = Object.keys(variables);
    expect(names.length).toBeLessThanOrEqual(MOST_PACKED);
    expect(names.at(-1)).toBe(`${PACKED_VARIABLE}${names.length - 1}`);
    for (const value of Object.values(variables)) expect(Buffer.byteLength(value)).toBeLessThan(131_000);
  });

  it("holds no separator, and stays as it is where every one occurs", () => {
    const large = Array.from({ length: 1_000 }, () => "x".repeat(100));
    expect(packArguments([...large, "\u001f"]).words).toEqual(["\u001e"]);
    const all = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code + 1)).join("");
    expect(packArguments([...large, all]).words).toHaveLength(1_002);
  });
});
