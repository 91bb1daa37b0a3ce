/**
 * Reads approval rules as they stand in config.toml:
 *
 *     [[approval]]
 *     name = "tests of the shop"        # by default "rule 1", "rule 2", …
 *     agents = ["claude", "codex"]      # each of these may be left out
 *     roles = ["builder"]
 *     directories = ["~/shop"]
 *     tools = ["command"]               # command, edit, tool, other, or the agent's own name of a tool
 *     allow = ['npm (test|run lint)']   # fits the whole command, file or input; or true
 *     deny = ['\bsudo\b']               # is found anywhere in it; or true
 *
 * It does not compile the patterns: the engine is loaded only if there are any.
 */
import { isAbsolute, join, normalize } from "node:path";
import type { ApprovalRule, RuleMatch, RulePattern } from "./approval-rule.ts";

/** A rule whose patterns are still texts. */
export interface RuleTable extends Omit<ApprovalRule, "allow" | "deny"> {
  readonly allow: true | readonly string[] | null;
  readonly deny: true | readonly string[] | null;
}

const KEYS = ["name", "agents", "roles", "directories", "tools", "allow", "deny"] as const;

/** Throws what is wrong with it, in a few words. `home`: what `~` stands for. */
export function parseRuleTables(value: unknown, home: string): readonly RuleTable[] {
  if (!Array.isArray(value)) throw new Error("[[approval]] must be a list of tables, in double brackets");
  const rules = value.map((table: unknown, index) => parseRule(table, index + 1, home));
  const names = rules.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two approval rules are called "${twice}"; give one another name`);
  return rules;
}

function parseRule(value: unknown, place: number, home: string): RuleTable {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`[[approval]] number ${place} must be a table`);
  const table = value as Readonly<Record<string, unknown>>;
  const name = table["name"] ?? `rule ${place}`;
  if (typeof name !== "string" || !/^[^\p{Cc}]{1,80}$/u.test(name))
    throw new Error(`the name of approval rule ${place} must be a text of at most 80 characters in one line`);
  const unknown = Object.keys(table).find((key) => !KEYS.some((known) => known === key));
  if (unknown !== undefined)
    throw new Error(`approval rule "${name}" has no setting ${unknown}, only ${KEYS.join(", ")}`);
  const rule: RuleTable = {
    name,
    agents: wordsIn(table, name, "agents"),
    roles: wordsIn(table, name, "roles"),
    directories: wordsIn(table, name, "directories")?.map((path) => directoryOf(path, name, home)) ?? null,
    tools: wordsIn(table, name, "tools"),
    allow: matchIn(table, name, "allow"),
    deny: matchIn(table, name, "deny"),
  };
  if (rule.allow === null && rule.deny === null)
    throw new Error(`approval rule "${name}" decides nothing: give it allow or deny`);
  return rule;
}

function wordsIn(table: Readonly<Record<string, unknown>>, name: string, key: string): readonly string[] | null {
  const value = table[key];
  if (value === undefined) return null;
  if (isTexts(value)) return value;
  throw new Error(`${key} of approval rule "${name}" must be a list of texts that are not empty`);
}

function matchIn(table: Readonly<Record<string, unknown>>, name: string, key: string): true | readonly string[] | null {
  const value = table[key];
  if (value === undefined || value === true) return value ?? null;
  if (isTexts(value)) return value;
  throw new Error(`${key} of approval rule "${name}" must be true or a list of patterns that are not empty`);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string" && word !== "");
}

function directoryOf(path: string, name: string, home: string): string {
  const whole = path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
  if (isAbsolute(whole)) return normalize(whole);
  throw new Error(`directories of approval rule "${name}" must begin with / or ~/, not "${path}"`);
}

/** Throws which rule has a pattern that is none. */
export function withPatterns(
  tables: readonly RuleTable[],
  compile: (source: string) => RulePattern,
): readonly ApprovalRule[] {
  const match = (given: RuleTable["allow"], name: string): RuleMatch | null => {
    if (given === null || given === true) return given;
    try {
      return given.map(compile);
    } catch (error) {
      throw new Error(`approval rule "${name}": ${error instanceof Error ? error.message : "a bad pattern"}`, {
        cause: error,
      });
    }
  };
  return tables.map((table) => ({
    ...table,
    allow: match(table.allow, table.name),
    deny: match(table.deny, table.name),
  }));
}
