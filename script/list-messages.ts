/**
 * Every text in src/ that a person may read: errors, help, what commands print,
 * what events and records say, the descriptions of the API. `generate-docs.ts`
 * writes them to docs/spec/messages.md, so that they can be read side by side.
 *
 * A text is a string with at least two words, or the value of a property that
 * holds a text by its name (`summary`). Its variables are shown as {name}.
 * SQL, shell scripts and patterns are left out.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { sourceFiles } from "./source-imports.ts";

interface Syntax {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Their strings are read by a program: a shell, tmux, systemd, SQLite. */
const PROGRAMS = [
  "agent/codex/pane-script.ts",
  "agent/gemini/session-scripts.ts",
  "agent/hook-script.ts",
  "platform/process-lock.ts",
  "runtime/driver/create-pane.ts",
  "runtime/driver/server-config.ts",
  "runtime/driver/wrapper-script.ts",
  "store/integrity-check.ts",
  "store/migrations.ts",
  "surface/cli/completion-script.ts",
];

const TEXT_PROPERTIES = new Set(["description", "meaning", "message", "note", "reason", "summary", "title"]);
/** What stands between a property and its text: `title: isShort ? "a" : "b"`. */
const KEEPS_PROPERTY = new Set(["ConditionalExpression", "LogicalExpression", "ParenthesizedExpression"]);
const SQL =
  /^\s*(?:ALTER|AND|BEGIN|COMMIT|CREATE|DELETE|DROP|EXPLAIN|INSERT|ORDER BY|PRAGMA|ROLLBACK|SELECT|UPDATE|VACUUM|WHERE|WITH) /;
const TWO_WORDS = /\p{L}{2,}[,:;.")'`]*\s+["('`]?(?:\p{L}{2,}|\{)|\}[,:;.")'`]*\s+["('`]?\p{L}{2,}/u;

/** The texts of each file below `source`, each once and in order; files without texts are left out. */
export function messagesOf(source: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const file of sourceFiles(source)) {
    if (PROGRAMS.includes(file)) continue;
    const texts = textsOf(readFileSync(join(source, file), "utf8"));
    if (texts.length > 0) found.set(file, texts);
  }
  return found;
}

export function renderMessages(source: string): string {
  return [...messagesOf(source)]
    .map(([file, texts]) => `## ${file}\n\n${texts.map((text) => `- ${code(text)}`).join("\n")}\n`)
    .join("\n");
}

/** The texts of one module. */
export function textsOf(module: string): readonly string[] {
  const texts = new Set<string>();
  visit(parseAst(module, { lang: "ts" }), "");
  return [...texts];

  function visit(value: unknown, property: string): void {
    if (Array.isArray(value)) {
      for (const entry of value) visit(entry, property);
      return;
    }
    const node = syntaxOf(value);
    if (node === null || isSkipped(node)) return;
    const text = textOf(node);
    if (text !== null) {
      if (isForPeople(text, property)) texts.add(text.trim());
      // A variable of a text may itself hold texts: `${isOpen ? "is still open" : "was closed"}`.
      for (const part of partsOf(node)) visit(part, "");
      return;
    }
    if (node.type === "Property") visit(node["value"], nameOf(node["key"]));
    else for (const child of Object.values(node)) visit(child, KEEPS_PROPERTY.has(node.type) ? property : "");
  }
}

function isSkipped(node: Syntax): boolean {
  return /^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|^Import|^ExportAll/.test(node.type);
}

function isForPeople(text: string, property: string): boolean {
  if (SQL.test(text) || !/\p{L}{2,}/u.test(text)) return false;
  return TWO_WORDS.test(text) || TEXT_PROPERTIES.has(property);
}

/** A literal, a template, or several added together; null for anything else. */
function textOf(node: Syntax): string | null {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : null;
  if (node.type === "TemplateLiteral") {
    const holes = listOf(node["expressions"]).map((hole) => `{${holeOf(hole)}}`);
    return listOf(node["quasis"])
      .map((quasi, index) => cooked(quasi) + (holes[index] ?? ""))
      .join("");
  }
  if (node.type !== "BinaryExpression" || node["operator"] !== "+") return null;
  const [left, right] = [syntaxOf(node["left"]), syntaxOf(node["right"])];
  const [first, second] = [left && textOf(left), right && textOf(right)];
  if (first === null && second === null) return null;
  return (first ?? `{${holeOf(left)}}`) + (second ?? `{${holeOf(right)}}`);
}

function partsOf(node: Syntax): readonly unknown[] {
  if (node.type === "TemplateLiteral") return listOf(node["expressions"]);
  if (node.type !== "BinaryExpression") return [];
  return [syntaxOf(node["left"]), syntaxOf(node["right"])].flatMap((side) =>
    side === null || side.type === "Literal" ? [] : textOf(side) === null ? [side] : partsOf(side),
  );
}

/** `session.name` → name, `quote(path)` → path, else "…". */
function holeOf(node: Syntax | null): string {
  switch (node?.type) {
    case "Identifier":
      return nameOf(node);
    case "MemberExpression":
      return nameOf(node["property"]) || holeOf(syntaxOf(node["object"]));
    case "CallExpression":
      return holeOf(listOf(node["arguments"])[0] ?? syntaxOf(node["callee"]));
    case "ChainExpression":
    case "AwaitExpression":
    case "TSNonNullExpression":
      return holeOf(syntaxOf(node["expression"] ?? node["argument"]));
    case "LogicalExpression":
      return holeOf(syntaxOf(node["left"]));
    default:
      return "…";
  }
}

function cooked(quasi: Syntax): string {
  const value = quasi["value"];
  const text = typeof value === "object" && value !== null && "cooked" in value ? value.cooked : "";
  return typeof text === "string" ? text : "";
}

function nameOf(value: unknown): string {
  const node = syntaxOf(value);
  const name = node?.["name"] ?? node?.["value"];
  return typeof name === "string" ? name : "";
}

function syntaxOf(value: unknown): Syntax | null {
  return typeof value === "object" && value !== null && "type" in value ? (value as Syntax) : null;
}

function listOf(value: unknown): readonly Syntax[] {
  return Array.isArray(value) ? value.flatMap((entry) => syntaxOf(entry) ?? []) : [];
}

/** In one line, between more backticks than the text has in a row. */
function code(text: string): string {
  const line = text.replaceAll("\n", "\\n").replaceAll("\u001B", "\\e");
  const fence = "`".repeat(Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)) + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${space}${line}${space}${fence}`;
}
