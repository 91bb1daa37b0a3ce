/** Claude Code 2.1.325, Codex 0.166.0 and Gemini CLI 0.61.0, as `reeve init` registers Reeve with them. */
import { join } from "node:path";
import { parse } from "smol-toml";
import { withoutComments } from "../../../platform/json-comments.ts";
import { fieldsOf } from "../../../platform/json-fields.ts";
import { withoutMember } from "./json-member.ts";
import { withoutTable } from "./toml-table.ts";
import type { Places, Registrar, ServerCommand } from "./registrar.ts";

const claude: Registrar = {
  name: "claude",
  title: "Claude Code",
  install: "npm install -g @anthropic-ai/claude-code",
  hidesEnvironment: false,
  file: (scope, places) =>
    scope === "project"
      ? join(places.cwd, ".mcp.json")
      : join(variable(places, "CLAUDE_CONFIG_DIR") ?? places.home, ".claude.json"),
  parse: (text) => fieldsOf(JSON.parse(text)),
  table: "mcpServers",
  without: withoutMember,
  add: (scope, name, server) => [
    "mcp",
    "add",
    "--scope",
    scope,
    name,
    ...assignments(server).flatMap((assignment) => ["--env", assignment]),
    "--",
    ...server.words,
  ],
  remove: (scope, name) => ["mcp", "remove", "--scope", scope, name],
  skills: (scope, places) =>
    scope === "project"
      ? join(places.cwd, ".claude", "skills")
      : join(variable(places, "CLAUDE_CONFIG_DIR") ?? join(places.home, ".claude"), "skills"),
};

const codex: Registrar = {
  name: "codex",
  title: "Codex",
  install: "npm install -g @openai/codex",
  hidesEnvironment: true,
  // `codex mcp` knows only the user's own configuration.
  file: (scope, places) => (scope === "project" ? null : join(codexDir(places), "config.toml")),
  parse: (text) => fieldsOf(parse(text)),
  table: "mcp_servers",
  without: withoutTable,
  add: (_scope, name, server) => [
    "mcp",
    "add",
    name,
    ...assignments(server).flatMap((assignment) => ["--env", assignment]),
    "--",
    ...server.words,
  ],
  remove: (_scope, name) => ["mcp", "remove", name],
  skills: (scope, places) => join(scope === "project" ? join(places.cwd, ".codex") : codexDir(places), "skills"),
};

const gemini: Registrar = {
  name: "gemini",
  title: "Gemini CLI",
  install: "npm install -g @google/gemini-cli",
  hidesEnvironment: false,
  file: (scope, places) => join(geminiDir(scope, places), "settings.json"),
  parse: (text) => fieldsOf(JSON.parse(withoutComments(text))),
  table: "mcpServers",
  without: withoutMember,
  add: (scope, name, server) => [
    "mcp",
    "add",
    "--scope",
    scope,
    name,
    ...server.words,
    // Last: it takes all words behind it for variables.
    ...assignments(server).flatMap((assignment) => ["--env", assignment]),
  ],
  remove: (scope, name) => ["mcp", "remove", "--scope", scope, name],
  skills: (scope, places) => join(geminiDir(scope, places), "skills"),
};

export const REGISTRARS: readonly Registrar[] = [claude, codex, gemini];

export function codexDir(places: Places): string {
  return variable(places, "CODEX_HOME") ?? join(places.home, ".codex");
}

function geminiDir(scope: "user" | "project", places: Places): string {
  return join(scope === "project" ? places.cwd : (variable(places, "GEMINI_CLI_HOME") ?? places.home), ".gemini");
}

function variable({ environment }: Places, name: string): string | undefined {
  const value = environment[name];
  return value === "" ? undefined : value;
}

function assignments({ variables }: ServerCommand): readonly string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}
