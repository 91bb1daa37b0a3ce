/** Where Codex keeps its files: `$CODEX_HOME`, else `~/.codex`. */
import { join } from "node:path";
import type { Launch } from "../../session/session.ts";
import type { HomePart, Known } from "../contract.ts";
import { isThreadId } from "./thread-id.ts";

export const PATH_VARIABLES = ["HOME", "CODEX_HOME"] as const;

/** Beside the years in which it keeps its rollouts; it looks into directories with such names only (0.166.0). */
export function directoryLink({ nativeId, launch }: Pick<Known, "nativeId" | "launch">): string | null {
  const home = codexHome(launch);
  return home === null || nativeId === null || !isThreadId(nativeId) ? null : join(home, "sessions", nativeId);
}

/** It writes its log-in in place, so that can be mounted by itself (0.166.0). */
export function homeParts(launch: Launch): readonly HomePart[] {
  const home = codexHome(launch);
  if (home === null) return [];
  const part = (name: string, how: HomePart["how"]): HomePart => ({
    path: `.codex/${name}`,
    source: join(home, name),
    how,
  });
  const read = ["AGENTS.md", "prompts", "skills", "rules"].map((name) => part(name, "read-only"));
  return [part("auth.json", "shared"), part("config.toml", "copied"), ...read];
}

export function codexHome(launch: Launch): string | null {
  const { CODEX_HOME: own, HOME: home } = launch.paths;
  if (own !== undefined && own !== "") return own;
  return home === undefined || home === "" ? null : join(home, ".codex");
}
