import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseScreenRules, type ScreenRule } from "../agent/screen-rules.ts";
import { createRuleBook, type RuleBook } from "./rule-book.ts";

let directory: string;
let logged: { readonly message: string; readonly fields: object | undefined }[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-rules-"));
  for (const name of ["shipped", "users"]) mkdirSync(join(directory, name));
  logged = [];
  // Only the clock by which a book knows how old its look is.
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

const rule = (name: string, activity = "idle"): string =>
  `[[rule]]\nname = "${name}"\nscreen = "x"\nactivity = "${activity}"\n`;
const write = (whose: "shipped" | "users", text: string): void =>
  writeFileSync(join(directory, whose, "codex.toml"), text);
const open = (declared: ReadonlyMap<string, readonly ScreenRule[]> = new Map()): RuleBook =>
  createRuleBook({
    shippedDir: join(directory, "shipped"),
    usersDir: join(directory, "users"),
    declared,
    log: (message, fields) => void logged.push({ message, fields }),
  });
const names = (book: RuleBook, agent = "codex"): readonly string[] => book(agent).map(({ name }) => name);
/** Longer than a look is trusted. */
const later = (): void => void vi.advanceTimersByTime(3_000);

test("the user's rules come before the shipped ones", () => {
  write("shipped", rule("a") + rule("b"));
  write("users", rule("c") + rule("b", "working"));
  const book = open();
  expect(names(book)).toEqual(["c", "b", "a"]);
  expect(book("codex").find(({ name }) => name === "b")?.activity).toBe("working");
  expect(names(book, "command")).toEqual([]);
});

test("without a file of the user's, or even a directory for it, there are the shipped ones", () => {
  write("shipped", rule("a"));
  rmSync(join(directory, "users"), { recursive: true });
  expect(names(open())).toEqual(["a"]);
});

test("a file that is not right is logged once and ignored", () => {
  write("shipped", rule("a"));
  write("users", `${rule("b")}[[rule]]\nname = "c"\nscreen = "("\nactivity = "idle"\n`);
  const book = open();
  expect(names(book)).toEqual(["a"]);
  later();
  expect(names(book)).toEqual(["a"]);
  expect(logged).toEqual([
    {
      message: "the user's screen rules are not right; only those of Reeve are used",
      fields: {
        agent: "codex",
        stamp: expect.any(String),
        why: expect.stringContaining("rule 2: c: screen Invalid regular expression"),
      },
    },
  ]);
});

test("a changed, a new and a removed file are picked up; until then nothing is read", () => {
  write("shipped", rule("a"));
  const book = open();
  const first = book("codex");
  expect(names(book)).toEqual(["a"]);
  write("users", rule("mine"));
  expect(book("codex")).toBe(first);
  later();
  expect(names(book)).toEqual(["mine", "a"]);
  write("users", `${rule("mine")}${rule("another")}`);
  later();
  expect(names(book)).toEqual(["mine", "another", "a"]);
  const unchanged = book("codex");
  later();
  expect(book("codex")).toBe(unchanged);
  rmSync(join(directory, "users", "codex.toml"));
  later();
  expect(names(book)).toEqual(["a"]);
});

test("an agent that the configuration declares has its own, and the user's before them", () => {
  const declared = new Map([["codex", parseScreenRules(rule("declared"))]]);
  write("shipped", rule("shipped"));
  write("users", rule("mine"));
  expect(names(open(declared))).toEqual(["mine", "declared"]);
});
