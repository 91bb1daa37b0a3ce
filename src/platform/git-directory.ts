/**
 * Where git keeps what belongs to the checkout with this top directory; null where it is none. Only files are read. Not
 * every `.git` is one: while Codex runs a command in its sandbox, an empty directory of that name stands in each directory
 * that the command may write to, /tmp among them.
 */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

export function gitDirectoryAt(top: string): string | null {
  const path = join(top, ".git");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (found.isDirectory()) return readText(join(path, "HEAD")) === null ? null : path;
  // A linked worktree or a submodule.
  const target = /^gitdir: (.+)$/m.exec(readText(path) ?? "")?.[1];
  return target === undefined ? null : resolve(top, target);
}

/** What all worktrees of its repository share. */
export function commonGitDirectory(gitDirectory: string): string {
  const common = readText(join(gitDirectory, "commondir"))?.trim() ?? "";
  return common === "" ? gitDirectory : resolve(gitDirectory, common);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
