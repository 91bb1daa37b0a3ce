/** Where Codex keeps its files: `$CODEX_HOME`, else `~/.codex`. */
import { join } from "node:path";
import type { Launch } from "../../session/session.ts";

export const PATH_VARIABLES = ["HOME", "CODEX_HOME"] as const;

export function codexHome(launch: Launch): string | null {
  const { CODEX_HOME: own, HOME: home } = launch.paths;
  if (own !== undefined && own !== "") return own;
  return home === undefined || home === "" ? null : join(home, ".codex");
}
