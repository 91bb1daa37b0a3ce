/**
 * Reeve's MCP server for one Codex: `-c mcp_servers.reeve.…`, for the process
 * that runs the turns. Codex gives its MCP servers almost nothing of its own
 * environment (0.166.0: HOME, LANG, PATH, TERM and the like), so the variables
 * that the server needs are named in `env_vars`.
 *
 * Codex merges these flags, key by key, with a server of this name in the
 * user's config.toml, and does not start if the result makes no sense (`command`
 * beside the user's `url`). So it is left out where the user has another one.
 */
import { join } from "node:path";
import { parse } from "smol-toml";
import { fieldsOf } from "../../platform/json-fields.ts";
import type { LaunchContext } from "../contract.ts";
import { MCP_SERVER_NAME, type McpServer, withoutClash } from "../mcp-server.ts";
import { codexHome } from "./codex-home.ts";
import { tomlList, tomlText } from "./toml-value.ts";

/** Null where the user has another server of this name: for themselves, for this directory, or on the command line. */
export function mcpOf({ launch, mcp, read }: LaunchContext): McpServer | null {
  const home = codexHome(launch);
  const paths = [...(home === null ? [] : [join(home, "config.toml")]), join(launch.cwd, ".codex", "config.toml")];
  if (mcp === null || launch.args.some((word) => word.includes(`mcp_servers.${MCP_SERVER_NAME}`))) return null;
  return withoutClash(mcp, ...paths.map((path) => serversIn(read(path))));
}

export function mcpFlags(mcp: McpServer | null): readonly string[] {
  if (mcp === null) return [];
  const [program, ...words] = mcp.command;
  const settings = [`command=${tomlText(program)}`, `args=${tomlList(words)}`, `env_vars=${tomlList(mcp.variables)}`];
  return settings.flatMap((setting) => ["-c", `mcp_servers.${MCP_SERVER_NAME}.${setting}`]);
}

function serversIn(text: string | null): unknown {
  try {
    return text === null ? {} : fieldsOf(parse(text))["mcp_servers"];
  } catch {
    // Codex itself will say what is wrong with its configuration.
    return {};
  }
}
