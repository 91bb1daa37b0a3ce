/**
 * Removes a worktree if nothing of it can be lost, and otherwise says why it is
 * kept. Everything is looked at right before the removal. Git does the removing:
 * it does not follow links. It is told to use force only for submodules, which it
 * refuses otherwise, and for work that was saved.
 */
import { basename, dirname } from "node:path";
import { lines } from "../../fleet/git-output.ts";
import { type Obstacle, obstaclesIn, type WorktreeFacts } from "../../fleet/worktree-judgement.ts";
import type { Saved, Worktree } from "../../fleet/worktree.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { keepCommits, saveWork } from "./snapshot.ts";
import { gitFailed, type Tool, worktreesOf } from "./repository.ts";
import { hasSubmodules } from "./submodules.ts";

export interface RemovalRequest {
  /** Save first what would be lost. */
  readonly save: boolean;
  readonly deleteBranch: boolean;
  /** Obstacles of these kinds do not count. */
  readonly without?: readonly string[];
}

export interface Removal {
  readonly isRemoved: boolean;
  /** Why it is kept. */
  readonly obstacles: readonly Obstacle[];
  readonly saved: Saved | null;
  /** Null: nobody asked for that. */
  readonly branch: { readonly isDeleted: boolean; readonly why: string } | null;
  /** Ignored directories that went with it. */
  readonly dropped: readonly string[];
}

export interface Removing {
  readonly tool: Tool;
  readonly worktree: Worktree;
  look(): Promise<WorktreeFacts>;
  /** Before anything is removed. */
  intend(): Promise<void>;
  now(): number;
}

export async function removeWorktree(removing: Removing, request: RemovalRequest): Promise<Removal> {
  const { tool, worktree, look, now } = removing;
  const counts = ({ code, isSavable }: Obstacle): boolean =>
    !(request.without ?? []).includes(code) && !(request.save && isSavable);
  const kept = (obstacles: readonly Obstacle[], saved: Saved | null = null): Removal => ({
    isRemoved: false,
    obstacles,
    saved,
    branch: null,
    dropped: [],
  });

  const first = await look();
  const obstacles = obstaclesIn(first);
  if (obstacles.some(counts)) return kept(obstacles.filter((one) => counts(one) || one.isSavable));
  const isLost = obstacles.some(({ isSavable }) => isSavable);
  const saved = request.save && isLost ? await saveWork(tool, worktree, first, now()) : null;
  await removing.intend();
  failpoint("worktree.before-remove");

  const facts = await look();
  const since = obstaclesIn(facts);
  if (since.some(counts)) return kept(since, saved);
  if (saved !== null && (await saveWork(tool, worktree, facts, now())).commit !== saved.commit)
    return kept([changedMeanwhile], saved);
  const named = await keepNameless(removing, facts);
  const isForced = saved !== null || (await hasSubmodules(tool, worktree.path));
  await remove(tool, worktree, isForced);
  failpoint("worktree.after-remove");
  const branch = request.deleteBranch ? await deleteBranch(removing, facts) : null;
  return { isRemoved: true, obstacles: [], saved: branch?.kept ?? saved ?? named, branch, dropped: facts.disposable };
}

const changedMeanwhile: Obstacle = {
  code: "changed-meanwhile",
  text: "Something changed in it while its work was being saved.",
  isSavable: true,
};

/** A detached head that was merged by its content has no name once the worktree is gone. */
async function keepNameless({ tool, worktree, now }: Removing, { merged }: WorktreeFacts): Promise<Saved | null> {
  if (merged === "reachable") return null;
  const head = await tool.text(worktree.path, ["rev-parse", "--verify", "HEAD^{commit}"]);
  return await keepCommits(tool, worktree, worktree.path, [head], ["--branches", "--remotes", "--tags"], now());
}

async function remove(tool: Tool, { repository, path }: Worktree, isForced: boolean): Promise<void> {
  const args = ["worktree", "remove", ...(isForced ? ["--force"] : []), "--", path];
  const said = await tool.run(repository, args);
  if (said.status !== 0 || (await tool.files.realPath(path)) !== null) throw gitFailed(args, said);
  // Empty by now, unless there are other worktrees: rmdir takes nothing else away.
  if (!basename(dirname(path)).endsWith(".worktrees")) return;
  const rmdir = await tool.files.findProgram("rmdir", { cwd: "/", path: tool.paths["PATH"] });
  if (rmdir !== null)
    await tool.files
      .run(rmdir.path, ["--", dirname(path)], { environment: {}, timeoutMs: 10_000 })
      .catch(() => undefined);
}

interface BranchOutcome {
  readonly isDeleted: boolean;
  readonly why: string;
  readonly kept: Saved | null;
}

/** Only one that Reeve made and that is merged; what would lose its last name is kept under refs/reeve. */
async function deleteBranch({ tool, worktree, now }: Removing, { merged }: WorktreeFacts): Promise<BranchOutcome> {
  const { repository, branch, isBranchOurs } = worktree;
  const stays = (why: string): BranchOutcome => ({
    isDeleted: false,
    why: `Its branch ${branch} is kept: ${why}.`,
    kept: null,
  });
  if (!isBranchOurs) return stays("Reeve did not make it");
  if (merged !== "reachable" && merged !== "content") return stays("it is neither pushed nor merged");
  try {
    const ref = `refs/heads/${branch}`;
    if ((await worktreesOf(tool, repository)).some((one) => one.branch === branch))
      return stays("it is checked out elsewhere");
    const tip = await tool.text(repository, ["rev-parse", "--verify", ref]);
    const past = lines((await tool.maybe(repository, ["reflog", "show", "--format=%H", ref, "--"])) ?? "");
    const others = [`--exclude=${branch}`, "--branches", "--remotes", "--tags"];
    const kept = await keepCommits(tool, worktree, repository, [tip, ...past], others, now());
    await tool.text(repository, ["update-ref", "-d", ref, tip]);
    return { isDeleted: true, why: `Its branch ${branch} is deleted.`, kept };
  } catch (error) {
    return stays(messageOf(error).replace(/\.$/, ""));
  }
}
