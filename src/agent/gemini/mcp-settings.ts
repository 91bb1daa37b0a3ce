/**
 * Reeve's MCP server for one Gemini CLI: an entry in the session's
 * settings.json, and a policy file. Gemini CLI hides variables that look like
 * secrets from its MCP servers unless the entry names them (0.61.0), so the
 * entry names those that the server always has; `$NAME` is expanded by Gemini.
 *
 * It asks before every call of an MCP tool unless a policy allows it. The
 * policy allows the tools of this server that say they change nothing, with the
 * lowest priority among the user's own policies: any rule of theirs wins.
 */
import { type Fields, fieldsOf } from "../../platform/json-fields.ts";
import { MCP_SERVER_NAME } from "../../platform/mcp-registration.ts";
import type { McpServer } from "../mcp-server.ts";
import { REMEMBERING_TOOL } from "../reminder.ts";

/** Set in every session; an unset one would become an empty text. */
const ALWAYS_SET = /^REEVE_(?:MARK|SESSION_ID|PASS|SOCKET)$/;

export function mcpSettings(
  user: Fields,
  server: McpServer,
  policies: { readonly users: string; readonly own: string },
): Fields {
  const [command, ...args] = server.command;
  const names = server.variables.filter((name) => ALWAYS_SET.test(name));
  const env = Object.fromEntries(names.map((name) => [name, `$${name}`]));
  const chosen = user["policyPaths"];
  return {
    mcpServers: { ...fieldsOf(user["mcpServers"]), [MCP_SERVER_NAME]: { command, args, env } },
    // Where any is named, Gemini CLI does not look into the user's own directory by itself.
    policyPaths: [...(Array.isArray(chosen) && chosen.length > 0 ? chosen : [policies.users]), policies.own],
  };
}

const POLICY = `# Written by Reeve: tools of its MCP server that change nothing need no question.
[[rule]]
mcpName = "${MCP_SERVER_NAME}"
toolName = "*"
toolAnnotations = { readOnlyHint = true }
decision = "allow"
priority = 1
`;

const REMEMBERING_POLICY = `
# It is reminded to call this one (memory_reminder in Reeve's config.toml).
[[rule]]
mcpName = "${MCP_SERVER_NAME}"
toolName = "${REMEMBERING_TOOL}"
decision = "allow"
priority = 1
`;

export function mcpPolicy(isReminded: boolean): string {
  return isReminded ? `${POLICY}${REMEMBERING_POLICY}` : POLICY;
}
