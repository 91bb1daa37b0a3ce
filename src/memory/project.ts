/**
 * Which project a directory belongs to: the common git directory of the repository
 * around it, which all its worktrees share, or the directory itself. Only files are
 * read; git is not asked. What cannot be read is taken as it is written.
 */
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { commonGitDirectory, gitDirectoryAt } from "../platform/git-directory.ts";

export function projectOf(directory: string): string {
  const start = real(resolve(directory));
  for (let at = start; ; at = dirname(at)) {
    const found = gitDirectoryAt(at);
    if (found !== null) return real(commonGitDirectory(found));
    if (dirname(at) === at) return start;
  }
}

/** As people call it: the repository's directory. */
export function projectName(project: string): string {
  return project.endsWith("/.git") ? dirname(project) : project;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
