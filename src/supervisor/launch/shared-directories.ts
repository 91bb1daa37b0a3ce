/**
 * What a session in a container sees of this machine, each under its own path:
 * its own directory, where its hooks leave what they tell, the checkout that it
 * works in, and for a git worktree the repository that the worktree belongs to.
 */
import { dirname, join, resolve } from "node:path";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Session } from "../../session/session.ts";

const LARGEST_BYTES = 4_096;

export async function sharedDirectories(
  files: SessionFiles,
  { identity, checkout }: Pick<Session, "identity" | "checkout">,
): Promise<readonly string[]> {
  const { root } = checkout;
  if (root === null) return [identity.outputsDir];
  const repository = await repositoryOf(files, root);
  return [identity.outputsDir, root, ...(repository === null ? [] : [repository])];
}

async function isSame(files: SessionFiles, one: string, other: string): Promise<boolean> {
  const real = await files.realPath(one);
  return real !== null && real === (await files.realPath(other));
}

/** The git directory that a worktree shares with its repository; null where the checkout has its own inside. */
async function repositoryOf(files: SessionFiles, root: string): Promise<string | null> {
  const pointer = await files.read(join(root, ".git"), { mostBytes: LARGEST_BYTES });
  const own = /^gitdir: (.+)$/m.exec(pointer ?? "")?.[1];
  if (own === undefined) return null;
  const gitDir = resolve(root, own);
  const text = (name: string): Promise<string | null> => files.read(join(gitDir, name), { mostBytes: LARGEST_BYTES });
  const common = (await text("commondir"))?.trim();
  // The pointer can be rewritten inside. What it points to is given away only if it points back here.
  if (common !== undefined) {
    const shared = resolve(gitDir, common);
    const back = resolve(gitDir, (await text("gitdir"))?.trim() ?? "");
    const isItsOwn = dirname(gitDir) === join(shared, "worktrees") && (await isSame(files, back, join(root, ".git")));
    return isItsOwn ? shared : null;
  }
  // A submodule has a git directory of its own elsewhere, and no common one.
  const worktree = /^\s*worktree = (.+)$/m.exec((await text("config")) ?? "")?.[1];
  return worktree !== undefined && (await isSame(files, resolve(gitDir, worktree), root)) ? gitDir : null;
}
