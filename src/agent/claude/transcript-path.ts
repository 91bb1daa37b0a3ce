/** Where Claude Code keeps what it writes; the rule was seen in 2.1.325. */
import { join } from "node:path";

export type Paths = Readonly<Record<string, string>>;

export function configDirOf(paths: Paths): string | null {
  const chosen = paths["CLAUDE_CONFIG_DIR"];
  if (chosen !== undefined && chosen !== "") return chosen;
  const home = paths["HOME"];
  return home === undefined || home === "" ? null : join(home, ".claude");
}

/** Of a working directory without symbolic links: Claude Code resolves them first. */
export function transcriptPathOf(configDir: string, cwd: string, nativeId: string): string {
  return join(configDir, "projects", projectNameOf(cwd), `${nativeId}.jsonl`);
}

const LONGEST_NAME = 200;

/** Everything but letters and digits of ASCII becomes a dash; a long name is cut and told apart by a hash. */
export function projectNameOf(cwd: string): string {
  const name = cwd.replaceAll(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= LONGEST_NAME) return name;
  return `${name.slice(0, LONGEST_NAME)}-${Math.abs(hashOf(cwd)).toString(36)}`;
}

/** The string hash of Java. */
function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
