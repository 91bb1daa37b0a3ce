import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseScreenRules } from "../../agent/screen-rules.ts";
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
const open = (declared: Parameters<typeof createRuleBook>[0]["declared"] = new Map()): RuleBook =>
  createRuleBook({
    shippedDir: join(directory, "shipped"),
    usersDir: join(directory, "users"),
    declared,
    log: (message, fields) => void logged.push({ message, fields }),
  });
const names = async (book: RuleBook, agent = "codex"): Promise<readonly string[]> =>
  (await book.of(agent)).map(({ name }) => name);
/** Longer than a look is trusted. */
const later = (): void => void vi.advanceTimersByTime(3_000);

test("the user's rules come before the shipped ones", async () => {
  write("shipped", rule("a") + rule("b"));
  write("users", rule("c") + rule("b", "working"));
  const book = open();
  expect(await names(book)).toEqual(["c", "b", "a"]);
  expect((await book.of("codex")).find(({ name }) => name === "b")?.activity).toBe("working");
  expect(await names(book, "command")).toEqual([]);
});

test("without a file of the user's, or even a directory for it, there are the shipped ones", async () => {
  write("shipped", rule("a"));
  rmSync(join(directory, "users"), { recursive: true });
  expect(await names(open())).toEqual(["a"]);
});

test("a file that is not right is logged once and ignored", async () => {
  write("shipped", rule("a"));
  write("users", `${rule("b")}[[rule]]\nname = "c"\nscreen = "("\nactivity = "idle"\n`);
  const book = open();
  expect(await names(book)).toEqual(["a"]);
  later();
  expect(await names(book)).toEqual(["a"]);
  expect(logged).toEqual([
    {
      message: "screen rules are not right and are not used",
      fields: { agent: "codex", what: join(directory, "users", "codex.toml"), why: expect.any(String) },
    },
  ]);
  expect(book.problems()).toEqual([
    `${join(directory, "users", "codex.toml")} is not right, so none of its rules is used: rule 2: c: screen "(" is not a pattern: missing closing ): \`(\`. Fix or delete that rule.`,
  ]);
  write("users", rule("b"));
  later();
  expect(await names(book)).toEqual(["b", "a"]);
  expect(book.problems()).toEqual([]);
});

test("a changed, a new and a removed file are picked up; until then nothing is read", async () => {
  write("shipped", rule("a"));
  const book = open();
  const first = await book.of("codex");
  expect(await names(book)).toEqual(["a"]);
  write("users", rule("mine"));
  expect(await book.of("codex")).toBe(first);
  later();
  expect(await names(book)).toEqual(["mine", "a"]);
  write("users", `${rule("mine")}${rule("another")}`);
  later();
  expect(await names(book)).toEqual(["mine", "another", "a"]);
  const unchanged = await book.of("codex");
  later();
  expect(await book.of("codex")).toBe(unchanged);
  rmSync(join(directory, "users", "codex.toml"));
  later();
  expect(await names(book)).toEqual(["a"]);
});

test("an agent that the configuration declares has its own, and the user's before them", async () => {
  const declared = new Map([["codex", () => parseScreenRules(rule("declared"))]]);
  write("shipped", rule("shipped"));
  write("users", rule("mine"));
  expect(await names(open(declared))).toEqual(["mine", "declared"]);
});

test("patterns of config.toml that cannot be used are a problem of that agent alone", async () => {
  const refused = (): never => {
    throw new Error("[agent.codex] of config.toml is not right");
  };
  write("users", rule("mine"));
  const book = open(new Map([["codex", async () => refused()]]));
  expect(await names(book)).toEqual(["mine"]);
  expect(book.problems()).toEqual(["[agent.codex] of config.toml is not right"]);
  await expect(book.require("codex")).rejects.toThrow("[agent.codex] of config.toml is not right");
  await book.require("claude");
  expect([book.has("codex"), book.has("claude")]).toEqual([true, false]);
});
