/**
 * Reeve's own MCP server (`reeve mcp`), as the agent of a session is given it.
 * Each adapter puts it into what its agent reads for one process only; the
 * user's files and their other servers stay as they are (decision 37).
 */
import { fieldsOf } from "../platform/json-fields.ts";
import { isReeveServer, MCP_SERVER_NAME } from "../platform/mcp-registration.ts";

export interface McpServer {
  /** Absolute paths, then arguments. */
  readonly command: readonly [program: string, ...words: string[]];
  /** What it needs of the session's environment. Only the names: no value is written into a file. */
  readonly variables: readonly string[];
  /** Its tools that change nothing. The agent need not ask before it calls them. */
  readonly readOnlyTools: readonly string[];
}

/** Null where `servers`, a table of the user's, has another server of this name: that one is theirs to keep. */
export function withoutClash(server: McpServer | null, ...servers: readonly unknown[]): McpServer | null {
  const isTaken = servers.some((table) => {
    const entry = fieldsOf(table)[MCP_SERVER_NAME];
    // What `reeve init` registered gives way to the session's own.
    return entry !== undefined && !isReeveServer(fieldsOf(entry));
  });
  return isTaken ? null : server;
}

/** For `explain` and `doctor`, behind how it is watched. */
export function clashNote(asked: McpServer | null, given: McpServer | null): string {
  if (asked === null || given !== null) return "";
  return ` It does not have Reeve's MCP server, because you have another one called ${MCP_SERVER_NAME}.`;
}
