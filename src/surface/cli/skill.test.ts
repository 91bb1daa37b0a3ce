/** The skill that is shipped says nothing that the commands and the tools do not have. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MCP_SERVER_NAME } from "../../platform/mcp-registration.ts";
import catalogue from "../mcp/catalogue.json" with { type: "json" };
import { findCommand, parseLine } from "./command-line.ts";
import { commands } from "./commands.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const text = readFileSync(join(root, "skills", "reeve", "SKILL.md"), "utf8");

test("it has the front matter by which agents find it, and is short", () => {
  const [, front = ""] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  expect(front).toMatch(new RegExp(`^name: ${MCP_SERVER_NAME}\ndescription: .{40,600}$`));
  expect(text.length).toBeLessThan(5_000);
});

const lines = [...text.matchAll(/(?:^|`)reeve ([^`\n]+)/gm)].map(([, line = ""]) => line);

test("it shows commands for the whole loop", () => {
  const names = lines.map((line) => line.split(" ")[0]);
  expect(names).toEqual(expect.arrayContaining(["start", "wait", "data", "send", "end", "list", "approve", "explain"]));
});

test.each(lines)("reeve %s", (line) => {
  const [name = "", ...words] = line.match(/"[^"]*"|\S+/g) ?? [];
  const given = words.map((word) => word.replaceAll('"', "").replace("CURSOR", "17"));
  expect(() => parseLine(findCommand(commands, name), given)).not.toThrow();
});

test("the tools that it names are there", () => {
  const known = new Set(catalogue.map(({ tool }) => tool.name));
  const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = ""]) => name);
  const tools = named.filter((name) => name !== "session_id");
  expect(tools.length).toBeGreaterThan(5);
  expect(tools.filter((name) => !known.has(name))).toEqual([]);
});

test("npm packs it", () => {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: readonly string[] };
  expect(files).toContain("skills");
});
