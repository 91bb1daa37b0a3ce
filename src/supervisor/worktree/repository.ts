/**
 * Git in one repository, as worktrees need it: answers as text, refusals as
 * sentences, and another try where a lock of git's is in the way for a moment.
 * Nothing here changes a repository's configuration, and no lock is ever deleted.
 */
import { dirname } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { type ListedWorktree, parseWorktrees } from "../../fleet/git-output.ts";
import type { ProgramRun, SessionFiles } from "../../runtime/session-files.ts";
import { findGit, type Git, type GitOptions } from "../launch/git.ts";

export interface Tool {
  readonly files: SessionFiles;
  /** PATH and HOME. */
  readonly paths: Readonly<Record<string, string>>;
  run: Git["run"];
  /** What it prints, without the line's end; throws what git said where it fails. */
  text(cwd: string, args: readonly string[], options?: GitOptions): Promise<string>;
  /** The same, or null where it fails. */
  maybe(cwd: string, args: readonly string[], options?: GitOptions): Promise<string | null>;
  isTrue(cwd: string, args: readonly string[]): Promise<boolean>;
}

/** Looking at a large checkout, and writing it. */
export const LONG_MS = 120_000;

const LOCKED = /\.lock': File exists|another git process seems to be running|could not lock/i;
const TRIES = 5;
const BETWEEN_MS = 200;

export async function toolIn(
  files: SessionFiles,
  cwd: string,
  paths: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<Tool> {
  const git = await findGit(files, cwd, paths);
  if (git === null)
    throw new ReeveError({
      code: "no-git",
      kind: "config",
      message: "A worktree needs git, which is not on the PATH; install it, or leave --worktree out.",
    });
  const run: Git["run"] = async (where, args, options = {}) => {
    // A monitor that git starts would stay in the worktree for good.
    const quiet = ["-c", "core.fsmonitor=false", ...args];
    for (let tries = 1; ; tries++) {
      const said = await git.run(where, quiet, { timeoutMs: LONG_MS, ...options });
      if (said.status === 0 || tries >= TRIES || !LOCKED.test(said.stderr)) return said;
      await clock.sleep(BETWEEN_MS * tries);
    }
  };
  return {
    files,
    paths,
    run,
    async text(where, args, options) {
      const said = await run(where, args, options);
      if (said.status === 0) return said.stdout.replace(/\n$/, "");
      throw gitFailed(args, said);
    },
    async maybe(where, args, options) {
      const said = await run(where, args, options);
      return said.status === 0 ? said.stdout.replace(/\n$/, "") : null;
    },
    isTrue: async (where, args) => (await run(where, args)).status === 0,
  };
}

export function gitFailed(args: readonly string[], { status, stderr }: ProgramRun): ReeveError {
  return new ReeveError({
    code: "git-failed",
    kind: "conflict",
    message: `git ${args.find((word) => /^[a-z]/.test(word)) ?? ""} failed: ${lastWords(stderr) || `it ended with ${status}`}.`,
  });
}

/** The line that says what was wrong: of several the last that git began with a word for it. */
export function lastWords(stderr: string): string {
  const said = stderr.split("\n").filter((line) => line.trim() !== "");
  const telling = said.findLast((line) => /^(?:fatal|error): /.test(line)) ?? said.at(-1) ?? "";
  return stripTerminal(telling)
    .replace(/^(?:fatal|error): /, "")
    .replace(/[.\s]+$/, "")
    .slice(0, 300);
}

export interface Repository {
  /** The git directory that all its worktrees share; without links, like all paths here. */
  readonly common: string;
  /** The checkout that was there first; where the repository is bare, the one that was asked in. */
  readonly main: string;
  /** The top of the checkout that was asked in, and where in it. */
  readonly top: string;
  readonly prefix: string;
  /** Null: no branch is checked out. */
  readonly branch: string | null;
}

export async function repositoryAt(tool: Tool, cwd: string): Promise<Repository> {
  const said = await tool.run(cwd, ["rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--git-common-dir"]);
  if (said.status !== 0) {
    if (/dubious ownership/.test(said.stderr)) throw gitFailed(["rev-parse"], said);
    if ((await tool.files.stat(cwd))?.isDirectory !== true)
      throw refusal("missing-directory", `The directory ${cwd} does not exist; create it or give another with --cwd.`);
    throw refusal("no-repository", `${cwd} is not in a git repository; give one with --cwd, or leave --worktree out.`);
  }
  const [isBare, isInside] = said.stdout.split("\n");
  if (isBare === "true" || isInside !== "true")
    throw refusal(
      "bare-repository",
      `${cwd} is in a bare repository or in a git directory, which has no checkout; give a checkout of it with --cwd.`,
    );
  const real = async (path: string): Promise<string> => (await tool.files.realPath(path)) ?? path;
  const top = await real(await tool.text(cwd, ["rev-parse", "--show-toplevel"]));
  const common = await real(await tool.text(cwd, ["rev-parse", "--path-format=absolute", "--git-common-dir"]));
  const prefix = await tool.text(cwd, ["rev-parse", "--show-prefix"]);
  const [first] = await worktreesOf(tool, top);
  const main = first === undefined || first.isBare ? top : await real(first.path);
  const branch = await tool.maybe(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  // Of a submodule git calls its own directory the main worktree.
  return { common, main: main === common ? top : main, top, prefix, branch };
}

export async function worktreesOf(tool: Tool, cwd: string): Promise<readonly ListedWorktree[]> {
  return parseWorktrees(await tool.text(cwd, ["worktree", "list", "--porcelain", "-z"]));
}

/** The nearest directory above that is there, without links. */
export async function standingAbove(files: SessionFiles, path: string): Promise<string> {
  for (let above = dirname(path); ; above = dirname(above)) {
    const real = await files.realPath(above);
    if (real !== null) return real;
  }
}

export function refusal(code: string, message: string, details: Record<string, unknown> = {}): ReeveError {
  return new ReeveError({ code, kind: "conflict", message, details });
}
