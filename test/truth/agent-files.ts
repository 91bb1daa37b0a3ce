/** The agents' own conversation files, found and read by the harness itself: where they are, and what the person said there. */
import { globSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Mode } from "./case.ts";

const PLACES: Readonly<Partial<Record<Mode, string>>> = {
  claude: ".claude/projects/*/*.jsonl",
  gemini: ".gemini/tmp/*/chats/*.jsonl",
  codex: ".codex/sessions/**/rollout-*.jsonl",
  "codex-hooks": ".codex/sessions/**/rollout-*.jsonl",
};

export interface AgentFiles {
  /** Those that hold something. */
  list(): readonly string[];
  /** What the person said, each text once. */
  typed(): readonly string[];
  remove(): void;
}

/** `dir`: the HOME of the agent's user; for the practice agent the session's own directory. */
export function agentFiles(mode: Mode, dir: () => string | null): AgentFiles {
  const list = (): readonly string[] => {
    const base = dir();
    if (base === null) return [];
    const pattern = mode === "practice" ? "transcript.jsonl" : PLACES[mode];
    if (pattern === undefined) return [];
    return globSync(pattern, { cwd: base })
      .map((name) => join(base, name))
      .filter((path) => sizeOf(path) > 0);
  };
  return {
    list,
    typed: () => [...new Set(list().flatMap((path) => readText(path).split("\n").flatMap(typedIn)))],
    remove: () => list().forEach((path) => rmSync(path, { force: true })),
  };
}

/** One line of any of them: the texts in the role of the user. */
export function typedIn(line: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  const row = value as Row;
  const body = row.message ?? row.payload ?? row;
  const role = body.role ?? row.type;
  if (role !== "user") return [];
  const content = body.content ?? body.text;
  if (typeof content === "string") return [content];
  return Array.isArray(content)
    ? content.flatMap((part: Row) => (typeof part.text === "string" ? [part.text] : []))
    : [];
}

interface Row {
  readonly type?: string;
  readonly role?: string;
  readonly text?: unknown;
  readonly content?: unknown;
  readonly message?: Row;
  readonly payload?: Row;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
