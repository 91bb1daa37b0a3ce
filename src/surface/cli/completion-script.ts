/**
 * Prints the script that makes a shell ask `reeve complete` at the tab key:
 * completion/reeve.<shell>, with the command that runs reeve filled in.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { shellQuote } from "../../platform/shell-quote.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(root: string, shell: Shell, program: string): string {
  const script = readFileSync(join(root, "completion", `reeve.${shell}`), "utf8");
  return script.replaceAll("@reeve@", () => quoted(shell, program));
}

/** In single quotes; fish has its own way to put one inside them. */
function quoted(shell: Shell, program: string): string {
  if (shell === "fish") return `'${program.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return shellQuote(program);
}
