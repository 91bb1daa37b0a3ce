/**
 * Whether the commits of a worktree are kept elsewhere. First by ancestry: every
 * one is on a branch of a remote, or on the branch that it is to be merged into.
 * Else by content: if merging it would change nothing, it was merged, also as
 * one commit (a squash merge). Git that is too old to say so leaves it unknown.
 */
import type { Merged } from "../../fleet/worktree-judgement.ts";
import { lines } from "../../fleet/git-output.ts";
import type { Worktree } from "../../fleet/worktree.ts";
import { defaultOf } from "./base.ts";
import type { Tool } from "./repository.ts";

export interface CommitsKept {
  readonly merged: Merged;
  readonly unpushed: number;
  /** Commits of the reflog that no ref leads to. */
  readonly forgotten: readonly string[];
}

export async function commitsKept(tool: Tool, { path, branch, base, main }: Worktree): Promise<CommitsKept> {
  const targets = await targetsOf(tool, { path, branch, base, main });
  const forgotten = await onlyInReflog(tool, path);
  const ends = ["HEAD", ...((await hasRef(tool, path, `refs/heads/${branch}`)) ? [`refs/heads/${branch}`] : [])];
  const left = await tool.maybe(path, ["rev-list", "--count", ...ends, "--not", "--remotes", ...targets]);
  if (left === null) return { merged: "unknown", unpushed: 0, forgotten };
  const unpushed = Number(left);
  if (unpushed === 0) return { merged: "reachable", unpushed, forgotten };
  const merged = await Promise.all(ends.map((end) => isContentMerged(tool, path, end, targets)));
  if (merged.every((one) => one === true)) return { merged: "content", unpushed, forgotten };
  return { merged: merged.includes(null) && !merged.includes(false) ? "unknown" : "no", unpushed, forgotten };
}

/** What it is to be merged into: the remote's main branch, the one it began from, and the one of the main checkout. */
async function targetsOf(
  tool: Tool,
  { path, branch, base, main }: Pick<Worktree, "path" | "branch" | "base" | "main">,
): Promise<readonly string[]> {
  const shared = await defaultOf(tool, path);
  const local = await tool.maybe(main, ["symbolic-ref", "--quiet", "HEAD"]);
  const named = base === null ? [] : [`refs/heads/${base.ref}`, `refs/remotes/${base.ref}`];
  const wanted = [shared === null ? null : `refs/remotes/${shared}`, local, ...named];
  const found: string[] = [];
  for (const ref of wanted)
    if (ref !== null && ref !== `refs/heads/${branch}` && !found.includes(ref) && (await hasRef(tool, path, ref)))
      found.push(ref);
  return found;
}

/** Null: git could not say. */
async function isContentMerged(
  tool: Tool,
  path: string,
  end: string,
  targets: readonly string[],
): Promise<boolean | null> {
  let isKnown = true;
  for (const target of targets) {
    const said = await tool.run(path, ["merge-tree", "--write-tree", "--no-messages", target, end]);
    // 1: there are conflicts, so it is not merged.
    if (said.status > 1) isKnown = false;
    if (said.status !== 0) continue;
    const tree = await tool.maybe(path, ["rev-parse", `${target}^{tree}`]);
    if (said.stdout.split("\n")[0] === tree) return true;
  }
  return isKnown ? false : null;
}

/** Of commits on no branch (a detached head, a reset) only this worktree's reflog knows, and it goes with the worktree. */
async function onlyInReflog(tool: Tool, path: string): Promise<readonly string[]> {
  const seen = [...new Set(lines((await tool.maybe(path, ["reflog", "show", "--format=%H", "HEAD", "--"])) ?? ""))];
  if (seen.length === 0) return [];
  const kept = ["--branches", "--tags", "--remotes", "--glob=refs/reeve", "HEAD"];
  // Commits that were collected long ago are left out.
  const there = await existing(tool, path, seen);
  if (there.length === 0) return [];
  const said = await tool.text(path, ["rev-list", "--stdin", "--not", ...kept], { input: `${there.join("\n")}\n` });
  const others = new Set(lines((await tool.maybe(path, ["reflog", "show", "--format=%H", "--branches", "--"])) ?? ""));
  return lines(said).filter((commit) => !others.has(commit));
}

async function existing(tool: Tool, path: string, commits: readonly string[]): Promise<readonly string[]> {
  const said = await tool.text(path, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    input: `${commits.join("\n")}\n`,
  });
  return lines(said).flatMap((line) => (line.endsWith(" commit") ? [line.split(" ")[0] ?? ""] : []));
}

async function hasRef(tool: Tool, path: string, ref: string): Promise<boolean> {
  return await tool.isTrue(path, ["show-ref", "--verify", "--quiet", ref]);
}
