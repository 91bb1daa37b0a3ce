/**
 * Session files of containers whose directories are mounted under their own
 * paths: they are read on this machine. What is in them was written inside, and
 * must not run outside, so git is run in a way that heeds no program that a
 * repository names.
 *
 * A link in a session's directory that leads out of it was planted there: what
 * is behind it is not read, listed, written or removed (decision 66).
 */
import { realpathSync, rmSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { errnoOf } from "../../platform/reeve-error.ts";
import { localFiles } from "../local-files.ts";
import type { SessionFiles } from "../session-files.ts";
import { runGuardedGit } from "./guarded-git.ts";

/** Nothing is there, and nothing can be made there. */
const NOWHERE = "/dev/null/leads-out-of-the-session";

export interface ContainerFilesParts {
  /** Where the directories of sessions are, as `<role>/<session>`. */
  readonly outputsDir: string;
  /** A directory of its own for what git needs while it runs; what a killed daemon left there is removed. */
  readonly gitDir: string;
}

export function createContainerFiles({ outputsDir, gitDir }: ContainerFilesParts): SessionFiles {
  rmSync(gitDir, { recursive: true, force: true });
  /** The path, if what is there lies in the session's own directory. */
  const within = (path: string): string => (leadsOut(outputsDir, path) ? NOWHERE : path);
  /** The path, if the directory that it is in does; what is there itself may be a link, which is not followed. */
  const beside = (path: string): string => (leadsOut(outputsDir, dirname(path)) ? NOWHERE : path);
  return {
    ...localFiles,
    read: (path, options) => localFiles.read(within(path), options),
    readNewLines: (path, cursor, limits) => localFiles.readNewLines(within(path), cursor, limits),
    blankUpTo: (path, cursor) => localFiles.blankUpTo(within(path), cursor),
    readTail: (path, options) => localFiles.readTail(within(path), options),
    stat: (path) => localFiles.stat(within(path)),
    list: (path) => localFiles.list(within(path)),
    watch: (path, tell) => localFiles.watch(within(path), tell),
    write: (file) => localFiles.write({ ...file, path: beside(file.path) }),
    makeDirectory: (path) => localFiles.makeDirectory(beside(path)),
    remove: (path) => localFiles.remove(beside(path)),
    removeTree: (path) => localFiles.removeTree(beside(path)),
    removeLeftover: (path) => localFiles.removeLeftover(beside(path)),
    link: (path, target, how) => localFiles.link(beside(path), target, how),
    hold: (path, target) => localFiles.hold(beside(path), within(target)),
    unlink: (path, target) => localFiles.unlink(beside(path), target),
    run: (path, args, options) =>
      basename(path) === "git" ? runGuardedGit(path, args, options, gitDir) : localFiles.run(path, args, options),
  };
}

/** Of what is not there, the nearest directory above it counts. */
function leadsOut(outputsDir: string, path: string): boolean {
  const way = relative(outputsDir, path);
  const [role, session] = way.split(sep);
  if (role === undefined || session === undefined || role === ".." || isAbsolute(way)) return false;
  const own = realPath(join(outputsDir, role, session));
  if (own === null) return false;
  for (let at = path; ; at = dirname(at)) {
    const real = realPath(at);
    if (real !== null) return real !== own && !real.startsWith(`${own}${sep}`);
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return null;
    throw error;
  }
}
