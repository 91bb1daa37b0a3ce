/**
 * Finds the git checkout of a directory and reads what is checked out there,
 * from git's own files and without running git. gitrepository-layout(5)
 * describes them:
 *
 *     <root>/.git                  a directory, or a file with "gitdir: <path>" in a linked worktree or a submodule
 *     <gitdir>/HEAD                "ref: refs/heads/<branch>", or a commit
 *     <gitdir>/rebase-merge/head-name, rebase-apply/head-name
 *                                  while a rebase is under way: "refs/heads/<branch>", or "detached HEAD"
 *     <gitdir>/BISECT_START        while a bisect is under way: the branch or commit before it
 *     <gitdir>/logs/HEAD           a line for each time that HEAD moved: "<old> <new> <who> TAB <what>"
 *
 * A repository that keeps its refs in reftables has "refs/heads/.invalid" in
 * HEAD: what is checked out there cannot be read in this way.
 */
import { dirname, join, resolve } from "node:path";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { SeenHead } from "../../session/checkout.ts";

export interface FoundCheckout {
  /** Its top directory, without links. */
  readonly root: string;
  readonly gitDir: string;
}

type Files = Pick<SessionFiles, "read" | "stat" | "realPath">;

/** A branch may have a long name; nothing else stands in these files. */
const LARGEST_BYTES = 4_096;

/** Null: the directory is in no repository. */
export async function findCheckout(files: Files, directory: string): Promise<FoundCheckout | "bare" | null> {
  const start = await files.realPath(directory);
  if (start === null) return null;
  // All at once: a start waits for this, and most directories are in no repository.
  const levels = await Promise.all(withParents(start).map((level) => checkoutAt(files, level)));
  return levels.find((found) => found !== null) ?? null;
}

function withParents(path: string): readonly string[] {
  return path === dirname(path) ? [path] : [path, ...withParents(dirname(path))];
}

async function checkoutAt(files: Files, root: string): Promise<FoundCheckout | "bare" | null> {
  const [gitDir, isBare] = await Promise.all([gitDirOf(files, root), isGitDir(files, root)]);
  if (gitDir !== null) return { root, gitDir };
  return isBare ? "bare" : null;
}

/** Of the checkout with this top directory; null where there is none. */
export async function gitDirOf(files: Files, root: string): Promise<string | null> {
  const path = join(root, ".git");
  const found = await files.stat(path);
  if (found === null) return null;
  if (found.isDirectory) return (await isGitDir(files, path)) ? path : null;
  const said = await files.read(path, { mostBytes: LARGEST_BYTES });
  const target = /^gitdir: (.+)$/m.exec(said ?? "")?.[1];
  if (target === undefined) return null;
  const gitDir = await files.realPath(resolve(root, target));
  return gitDir !== null && (await files.stat(join(gitDir, "HEAD"))) !== null ? gitDir : null;
}

async function isGitDir(files: Files, path: string): Promise<boolean> {
  if ((await files.stat(join(path, "HEAD")))?.isFile !== true) return false;
  return (await files.stat(join(path, "objects")))?.isDirectory === true;
}

/** Null: it is not there, or cannot be read. */
export async function readHead(files: Pick<Files, "read">, gitDir: string): Promise<SeenHead | null> {
  const read = (...path: readonly string[]): Promise<string | null> =>
    files.read(join(gitDir, ...path), { mostBytes: LARGEST_BYTES });
  const head = headFrom((await read("HEAD")) ?? "");
  if (head === null || head.branch !== null) return head;
  const rebased = (await read("rebase-merge", "head-name")) ?? (await read("rebase-apply", "head-name"));
  if (rebased !== null) return { ...head, underWay: `a rebase of ${branchName(rebased.trim())}` };
  const bisected = await read("BISECT_START");
  return bisected === null ? head : { ...head, underWay: `a bisect of ${branchName(bisected.trim())}` };
}

export function headFrom(text: string): SeenHead | null {
  const ref = /^ref:\s*(\S+)\s*$/.exec(text)?.[1];
  if (ref === "refs/heads/.invalid") return null;
  if (ref !== undefined) return { branch: branchName(ref), commit: null, underWay: null };
  return isCommit(text.trim()) ? { branch: null, commit: text.trim(), underWay: null } : null;
}

/**
 * Where HEAD was last, by new lines of its log, before it came back to this
 * branch; null: it never left. A rebase of a few commits takes some
 * milliseconds, and nobody would see it in HEAD itself.
 */
export function leftFor(branch: string, lines: readonly string[]): SeenHead | null {
  const moves = lines.map((line) => moveIn(line, branch));
  return moves.findLast((move) => move !== null) ?? null;
}

function moveIn(line: string, branch: string): SeenHead | null {
  const what = line.slice(line.indexOf("\t") + 1);
  if (/^rebase (?:-i )?\(start\)/.test(what)) return { branch: null, commit: null, underWay: `a rebase of ${branch}` };
  const target = /^checkout: moving from .+ to (\S+)$/.exec(what)?.[1];
  if (target === undefined || target === branch) return null;
  return isCommit(target)
    ? { branch: null, commit: target, underWay: null }
    : { branch: branchName(target), commit: null, underWay: null };
}

function isCommit(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Git allows no control characters in a name, but anybody may write these files. */
function branchName(ref: string): string {
  const name = stripTerminal(ref);
  return name.startsWith("refs/heads/") ? name.slice("refs/heads/".length) : name;
}
