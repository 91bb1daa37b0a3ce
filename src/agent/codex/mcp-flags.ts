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
import { type Fields, fieldsOf } from "../../platform/json-fields.ts";
import type { LaunchContext } from "../contract.ts";
import { isReeveServer, MCP_SERVER_NAME, READY_VARIABLE } from "../../platform/mcp-registration.ts";
import { type McpServer, withoutClash } from "../mcp-server.ts";
import { toolsReadyPath } from "../tools-awaited.ts";
import { codexHome } from "./codex-home.ts";
import { tomlList, tomlText } from "./toml-value.ts";

export interface CodexMcp {
  /** Null where it was not asked for, or the user has another server of this name. */
  readonly server: McpServer | null;
  readonly flags: readonly string[];
}

/** Looks at what the user has for themselves, for this directory, and on the command line. */
export function mcpOf({ launch, mcp, sessionDir, read }: LaunchContext): CodexMcp {
  const home = codexHome(launch);
  const paths = [...(home === null ? [] : [join(home, "config.toml")]), join(launch.cwd, ".codex", "config.toml")];
  const tables = paths.map((path) => serversIn(read(path)));
  const isGiven = launch.args.some((word) => OWN_SERVER.test(word));
  const server = isGiven ? null : withoutClash(mcp, ...tables);
  if (server !== null) return { server, flags: flagsOf(server, toolsReadyPath(sessionDir)) };
  // What `reeve init` registered would run without the session's pass, and so act for the user.
  const isRegistered = tables.some((table) => isReeveServer(fieldsOf(table[MCP_SERVER_NAME])));
  return { server, flags: isRegistered ? ["-c", `mcp_servers.${MCP_SERVER_NAME}.enabled=false`] : [] };
}

/** A server of this name on the command line; other settings for it, such as when to ask, go with ours. */
const OWN_SERVER = new RegExp(`\\bmcp_servers\\.${MCP_SERVER_NAME}(?:=|\\.(?:command|url)=)`);

function flagsOf(server: McpServer, readyPath: string): readonly string[] {
  const [program, ...words] = server.command;
  const settings = [
    `command=${tomlText(program)}`,
    `args=${tomlList(words)}`,
    `env_vars=${tomlList(server.variables)}`,
    `env.${READY_VARIABLE}=${tomlText(readyPath)}`,
  ];
  return settings.flatMap((setting) => ["-c", `mcp_servers.${MCP_SERVER_NAME}.${setting}`]);
}

function serversIn(text: string | null): Fields {
  try {
    return text === null ? {} : fieldsOf(fieldsOf(parse(text))["mcp_servers"]);
  } catch {
    // Codex itself will say what is wrong with its configuration.
    return {};
  }
}
