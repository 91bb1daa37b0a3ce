/** By what Reeve's MCP server is known in the configuration of an agent. */
import { basename } from "node:path";
import { type Fields, listOf } from "./json-fields.ts";

/** What it is called in every agent; its tools are called after it. */
export const MCP_SERVER_NAME = "reeve";

/** In a server's environment: the file to which it writes its pid once it has told its tools. */
export const READY_VARIABLE = "REEVE_MCP_READY";

/** An entry that runs `reeve mcp`, wherever Reeve is or was installed, and with whatever options. */
export function isReeveServer({ command, args }: Fields): boolean {
  const names = [command, ...listOf(args)].map((word) => (typeof word === "string" ? basename(word) : ""));
  return names.some((name, at) => name === "reeve" && names[at + 1] === "mcp");
}
