/**
 * Whether a worktree may be removed, from what was found in it. Pure. Whatever
 * is not known counts against it: a worktree too many harms nobody.
 */
import { isInside } from "./worktree-place.ts";

/** How the commits of a branch are kept elsewhere. */
export type Merged =
  /** Every one is reachable from a branch of a remote, or from the branch that it is to be merged into. */
  | "reachable"
  /** Merging it would change nothing: its content is there, as after a squash merge. */
  | "content"
  | "no"
  | "unknown";

export interface WorktreeFacts {
  /** Something else stands in its place, or git does not know it: a sentence. */
  readonly strange: string | null;
  readonly changed: number;
  readonly unmerged: number;
  readonly untracked: readonly string[];
  /** Ignored files that the main checkout does not have in the same form. */
  readonly ignored: readonly string[];
  /** Ignored directories that tools make again. */
  readonly disposable: readonly string[];
  /** Changes that the index hides from git status (assume-unchanged, skip-worktree). */
  readonly hidden: number;
  /** Other repositories inside of it. */
  readonly nested: readonly string[];
  /** What git has begun there and not finished: a rebase, a merge. */
  readonly underWay: string | null;
  /** What is wrong with submodules, a sentence each. */
  readonly submodules: readonly string[];
  readonly merged: Merged;
  /** Commits that no remote and no main branch has. */
  readonly unpushed: number;
  /** Commits that only the reflog of this worktree knows. */
  readonly forgotten: readonly string[];
  readonly stashes: number;
  /** Why somebody locked it. */
  readonly locked: string | null;
  /** A lock file of git's that is there now. */
  readonly lockFile: string | null;
  readonly processes: readonly string[];
  /** Names of sessions that have not ended and work in it. */
  readonly sessions: readonly string[];
}

export interface Obstacle {
  readonly code: string;
  /** A sentence, without what to do. */
  readonly text: string;
  /** Saving the work under refs/reeve puts it right. */
  readonly isSavable: boolean;
}

export function obstaclesIn(facts: WorktreeFacts): readonly Obstacle[] {
  const found: Obstacle[] = [];
  const add = (isThere: boolean, code: string, text: string, isSavable = false): void => {
    if (isThere) found.push({ code, text: `${text.charAt(0).toUpperCase()}${text.slice(1)}`, isSavable });
  };
  const { strange, underWay, locked, lockFile, processes, sessions, forgotten } = facts;
  add(strange !== null, "strange", strange ?? "");
  add(sessions.length > 0, "in-use", `${listed(sessions)} ${sessions.length === 1 ? "works" : "work"} in it.`);
  add(processes.length > 0, "process-inside", `${listed(processes)} ${processes.length === 1 ? "is" : "are"} in it.`);
  add(locked !== null, "locked", `It is locked with git worktree lock${locked === "" ? "" : ` (${locked})`}.`);
  add(lockFile !== null, "lock-file", `${lockFile} is there: a git command runs in it, or was killed.`);
  add(underWay !== null, "under-way", `${underWay} is under way in it.`);
  add(facts.unmerged > 0, "unmerged", `${counted(facts.unmerged, "file")} in it ${areIs(facts.unmerged)} in conflict.`);
  for (const text of facts.submodules) add(true, "submodule", text);
  add(
    facts.nested.length > 0,
    "nested-repository",
    `It holds another git repository or worktree: ${listed(facts.nested)}.`,
  );
  add(
    facts.hidden > 0,
    "hidden-changes",
    `${counted(facts.hidden, "file")} in it ${areIs(facts.hidden)} hidden from git status (assume-unchanged or skip-worktree).`,
    true,
  );
  add(
    facts.changed > 0,
    "changed",
    `${counted(facts.changed, "changed file")} ${areIs(facts.changed)} not committed.`,
    true,
  );
  add(facts.untracked.length > 0, "untracked", `Untracked: ${listed(facts.untracked)}.`, true);
  add(
    facts.ignored.length > 0,
    "ignored-files",
    `Ignored files that the main checkout does not have: ${listed(facts.ignored)}.`,
    true,
  );
  add(
    facts.merged === "no",
    "unpushed",
    `${counted(facts.unpushed, "commit")} ${areIs(facts.unpushed)} neither pushed nor merged.`,
    true,
  );
  add(facts.merged === "unknown", "merge-unknown", "Whether its commits are merged could not be found out.", true);
  add(
    forgotten.length > 0,
    "reflog-only",
    `${counted(forgotten.length, "commit")} ${areIs(forgotten.length)} only in its reflog: ${listed(forgotten.map((one) => one.slice(0, 10)))}.`,
    true,
  );
  add(
    facts.stashes > 0,
    "stashed",
    `There ${areIs(facts.stashes)} ${counted(facts.stashes, "stash", "stashes")} of its branch.`,
    true,
  );
  return found;
}

/** At most a few of them, and how many more there are. */
export function listed(items: readonly string[], most = 3): string {
  const shown = items.slice(0, most).join(", ");
  return items.length <= most ? shown : `${shown} and ${items.length - most} more`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function areIs(count: number): string {
  return count === 1 ? "is" : "are";
}

/** Whether an ignored directory is one that tools make again: one of its directories has such a name. */
export function isDisposable(path: string, names: readonly string[]): boolean {
  return path.endsWith("/") && path.split("/").some((part) => names.includes(part));
}

/** Of sessions that have not ended. */
export function worksIn(
  { cwd, worktree }: { readonly cwd: string; readonly worktree: string | null },
  path: string,
): boolean {
  return worktree === path || isInside(cwd, path);
}
