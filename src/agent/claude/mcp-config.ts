/**
 * Reeve's MCP server for one Claude Code: a file of its own, given with
 * `--mcp-config`, which adds to the user's servers. Claude Code gives its MCP
 * servers its whole environment (2.1.325), so the file names no variable.
 *
 * Claude Code asks before every call of an MCP tool unless a rule allows it,
 * and does not look at the tool's annotations. So the tools that change nothing
 * are allowed by name; a rule of the user's that denies or asks wins over that.
 */
import { join } from "node:path";
import { type Fields, fieldsOf, fieldsOrNull, parseFields } from "../../platform/json-fields.ts";
import type { LaunchContext, PlannedFile } from "../contract.ts";
import { MCP_SERVER_NAME } from "../../platform/mcp-registration.ts";
import { type McpServer, withoutClash } from "../mcp-server.ts";
import { type ToolsAwaited, toolsAwaited } from "../tools-awaited.ts";

export interface McpConfig {
  readonly server: McpServer;
  readonly file: PlannedFile;
  readonly awaited: ToolsAwaited;
}

/** Null where the user has another server of this name: for themselves, for this directory, or in its .mcp.json. */
export function mcpOf({ launch, mcp, sessionDir, read }: LaunchContext): McpConfig | null {
  const { CLAUDE_CONFIG_DIR: own, HOME: home } = launch.paths;
  const dir = own === undefined || own === "" ? home : own;
  const user = dir === undefined ? {} : parseFields(read(join(dir, ".claude.json")) ?? "");
  const local = fieldsOf(fieldsOf(fieldsOf(user)["projects"])[launch.cwd]);
  const project = parseFields(read(join(launch.cwd, ".mcp.json")) ?? "");
  const server = withoutClash(mcp, ...[user, local, project].map((table) => fieldsOf(table)["mcpServers"]));
  if (server === null) return null;
  const [command, ...args] = server.command;
  const awaited = toolsAwaited(sessionDir, tellLate);
  const servers = { mcpServers: { [MCP_SERVER_NAME]: { type: "stdio", command, args, env: awaited.environment } } };
  const path = join(sessionDir, "claude-mcp.json");
  return { server, file: { path, content: `${JSON.stringify(servers, null, 2)}\n`, isExecutable: false }, awaited };
}

/** The person reads the one, the model the other. */
function tellLate(sentence: string): object {
  const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: sentence };
  return { systemMessage: sentence, hookSpecificOutput };
}

export function withAllowed(settings: Fields, config: McpConfig | null, others: readonly string[] = []): Fields {
  if (config === null) return settings;
  const permissions = fieldsOrNull(settings["permissions"]) ?? {};
  const before: unknown = permissions["allow"];
  const ours = [...config.server.readOnlyTools, ...others].map((tool) => `mcp__${MCP_SERVER_NAME}__${tool}`);
  const allow = [...(Array.isArray(before) ? (before as readonly unknown[]) : []), ...ours];
  return { ...settings, permissions: { ...permissions, allow } };
}
