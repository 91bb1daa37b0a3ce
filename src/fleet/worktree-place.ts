/** Where a worktree is put: a directory of its own for each branch, beside the repository unless the settings say otherwise. */
import { createHash } from "node:crypto";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

export interface WorktreePlace {
  /** The top directory of the main checkout. */
  readonly main: string;
  /** The repository's git directory. */
  readonly repository: string;
  readonly branch: string;
  /** `worktrees_dir` of the settings; null: the default. */
  readonly setting: string | null;
}

export function placeOf({ main, repository, branch, setting }: WorktreePlace): string {
  const name = directoryName(branch);
  if (setting === null) return join(dirname(main), `${basename(main)}.worktrees`, name);
  if (!isAbsolute(setting)) return join(resolve(main, setting), name);
  // Several repositories share it, and two of them may have the same name.
  return join(setting, `${basename(main)}-${printOf(repository)}`, name);
}

/**
 * No two branches get the same: a slash becomes a plus, and a name that has a plus itself, or anything that a shell or
 * a file system could trip over, gets a print of the whole name.
 */
export function directoryName(branch: string): string {
  const flat = branch.replaceAll("/", "+");
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(branch.replaceAll("/", "")) && flat.length <= LONGEST_NAME) return flat;
  const safe = flat.replaceAll(/[^A-Za-z0-9._+-]+/g, "-").replace(/^[^A-Za-z0-9_]+/, "");
  return `${safe.slice(0, LONGEST_NAME) || "branch"}-${printOf(branch)}`;
}

/** File systems take 255 bytes; agents make names of their own from the whole path. */
const LONGEST_NAME = 80;

function printOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}
