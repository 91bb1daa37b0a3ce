/**
 * The real agents that the tests run: where they are installed and which
 * versions. They have a package.json and a lock file of their own, because they
 * are too large for everybody who only wants to build Reeve.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Holds `codex`, `claude` and `gemini` once `sh script/setup.sh --for-tests` has run. */
export const AGENT_PROGRAMS = join(import.meta.dirname, "node_modules", ".bin");

/** Looks there first. */
export function pathWithAgents(path: string): string {
  return `${AGENT_PROGRAMS}:${path}`;
}

/** As pinned: "@openai/codex 0.166.0". */
export function agentVersions(): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, "package.json"), "utf8");
  const { dependencies } = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  return Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
}
