/** What users read does without our private words; GLOSSARY.md says which these are, and what to write instead. */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, test } from "vitest";
import { messagesOf } from "../../script/list-messages.ts";
import { commands } from "../../src/surface/cli/commands.ts";
import { HELP_TOPICS } from "../../src/surface/cli/help.ts";
import { runProgram } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const home = mkdtempSync(join(tmpdir(), "reeve-words-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const GLOSSARY = readFileSync(join(ROOT, "GLOSSARY.md"), "utf8");

const rows = tableAfter("## Words that users do not read").map(([words = "", , except = ""]) => ({
  words: words.split(", "),
  except: except === "" ? [] : except.split(", "),
}));
const privateWord = new RegExp(String.raw`\b(?:${rows.flatMap(({ words }) => words).join("|")})s?\b`, "gi");
const exceptions = new RegExp(rows.flatMap(({ except }) => except).join("|"), "gi");

/** Each with the text around it. Fields in backticks, variables in braces and targets of links are names, not words. */
function privateWordsIn(text: string): readonly string[] {
  const bare = text
    .replaceAll("```", "")
    .replace(/`[^`\n]*`|\{[^}\n]*\}|\]\([^)\n]*\)/g, "")
    .replace(exceptions, "");
  return [...bare.matchAll(privateWord)].map((match) => `${match[0]}: …${around(bare, match.index)}…`);
}

function around(text: string, index: number): string {
  return text.slice(Math.max(0, index - 40), index + 40).replaceAll("\n", " ");
}

/** The cells of the first table after a line. */
function tableAfter(line: string): readonly (readonly string[])[] {
  const [, rest = ""] = GLOSSARY.split(line);
  const lines = rest.split("\n").filter((row) => row.startsWith("|"));
  return lines.slice(2).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("the glossary says of each word whom it is for", () => {
  const words = tableAfter("# Glossary").filter(([word = ""]) => word.startsWith("**"));
  expect(words.filter(([, reader = ""]) => !["users", "code"].includes(reader))).toEqual([]);
  const forUsers = words.filter(([, reader]) => reader === "users").map(([word = ""]) => word.replaceAll("*", ""));
  expect(rows.flatMap((row) => row.words).filter((word) => forUsers.includes(word))).toEqual([]);
});

test("a private word is found, whatever its form; a field, an exception or part of another word is not", () => {
  expect(privateWordsIn("Two orphans left their marks.")).toHaveLength(2);
  expect(privateWordsIn("The field `evidence`, REEVE_MARK, orphan_grace_seconds; it took effect.")).toEqual([]);
});

describe("there is none in", () => {
  it.each(["README.md", ...globSync("docs/guide/**/*.md", { cwd: ROOT })])("%s", (file) => {
    expect(privateWordsIn(readFileSync(join(ROOT, file), "utf8"))).toEqual([]);
  });

  it.each(["", ...HELP_TOPICS, ...commands.map(({ name }) => name)])("reeve help %s", async (topic) => {
    const words = topic === "" ? ["help"] : ["help", topic];
    const { status, stdout } = await runProgram(process.execPath, [join(ROOT, "bin", "reeve"), ...words], {
      HOME: home,
      PATH: process.env["PATH"] ?? "",
    });
    expect(status).toBe(0);
    expect(stdout).not.toBe("");
    expect(privateWordsIn(stdout)).toEqual([]);
  });

  it("any message", () => {
    const messages = messagesOf(join(ROOT, "src"));
    expect(messages.size).toBeGreaterThan(100);
    expect([...messages].flatMap(([file, texts]) => texts.flatMap(privateWordsIn).map((w) => `${file}: ${w}`))).toEqual(
      [],
    );
  });
});
