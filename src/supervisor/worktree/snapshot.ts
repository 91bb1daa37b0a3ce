/**
 * Saves the work of a worktree under `refs/reeve/<session>`: everything that its
 * removal would destroy, as one commit. HEAD, the index and the files stay as
 * they are, and no hook runs.
 *
 * The commit's tree is the worktree with untracked files, and with the ignored
 * ones that the main checkout does not have. Its parents are HEAD, the index as
 * a commit of its own where something is staged, commits that only the reflog
 * has, and what was saved before.
 */
import { join } from "node:path";
import { lines, pieces } from "../../fleet/git-output.ts";
import type { WorktreeFacts } from "../../fleet/worktree-judgement.ts";
import { savedRef, type Saved, type Worktree } from "../../fleet/worktree.ts";
import { newSessionId } from "../../platform/ids.ts";
import type { GitOptions } from "../launch/git.ts";
import { gitDirectory, stateIn } from "./look.ts";
import { LONG_MS, refusal, type Tool } from "./repository.ts";

const IDENTITY = {
  GIT_AUTHOR_NAME: "Reeve",
  GIT_AUTHOR_EMAIL: "reeve@localhost",
  GIT_COMMITTER_NAME: "Reeve",
  GIT_COMMITTER_EMAIL: "reeve@localhost",
};
const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];

export async function saveWork(tool: Tool, worktree: Worktree, facts: WorktreeFacts, at: number): Promise<Saved> {
  const { path, sessionId, branch } = worktree;
  const ref = savedRef(sessionId);
  const head = await tool.text(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
  const tree = await withIndex(tool, path, (options) => treeOf(tool, path, facts, options));
  const parents = [head, ...(await stagedCommit(tool, path, head, tree)), ...facts.forgotten];
  const before = await tool.maybe(path, ["rev-parse", "--verify", "--quiet", ref]);
  if (before !== null && (await holds(tool, path, before, tree, parents))) return { ref, commit: before, at };
  const all = [...new Set([...parents, ...(before === null ? [] : [before])])].flatMap((parent) => ["-p", parent]);
  const text = `Work on ${branch} of session ${sessionId}, saved by Reeve`;
  const made = await tool.text(path, ["commit-tree", tree, ...all, "-m", text], { environment: IDENTITY });
  await keep(tool, path, ref, made, before);
  return { ref, commit: made, at };
}

/** Of the index, where something is staged that the files do not have. The same index makes the same commit. */
async function stagedCommit(tool: Tool, path: string, head: string, tree: string): Promise<readonly string[]> {
  if ((await stateIn(tool, path)).staged.length === 0) return [];
  const staged = await withIndex(tool, path, (options) => indexOf(tool, path, options));
  if (staged === tree) return [];
  const date = await tool.text(path, ["log", "-1", "--format=%cd", "--date=raw", head]);
  const environment = { ...IDENTITY, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  return [await tool.text(path, ["commit-tree", staged, "-p", head, "-m", "The index"], { environment })];
}

/** For commits that would lose their last name: null where others lead to all of them. */
export async function keepCommits(
  tool: Tool,
  { sessionId, branch }: Worktree,
  path: string,
  commits: readonly string[],
  others: readonly string[],
  at: number,
): Promise<Saved | null> {
  const ref = savedRef(sessionId);
  const before = await tool.maybe(path, ["rev-parse", "--verify", "--quiet", ref]);
  const known = [...others, ...(before === null ? [] : [before])];
  const left = lines(
    await tool.text(path, ["rev-list", "--stdin", "--not", ...known], { input: `${commits.join("\n")}\n` }),
  );
  const tips = [...new Set(commits)].filter((commit) => left.includes(commit));
  const [first] = tips;
  if (first === undefined) return null;
  const parents = [...tips, ...(before === null ? [] : [before])].flatMap((parent) => ["-p", parent]);
  const text = `Commits of ${branch} of session ${sessionId}, kept by Reeve`;
  const made = await tool.text(path, ["commit-tree", `${first}^{tree}`, ...parents, "-m", text], {
    environment: IDENTITY,
  });
  await keep(tool, path, ref, made, before);
  return { ref, commit: made, at };
}

/** The index of a worktree stays untouched: git works with another one, which is removed. */
async function withIndex(tool: Tool, path: string, work: (options: GitOptions) => Promise<string>): Promise<string> {
  const file = join(await gitDirectory(tool, path), `reeve-index-${newSessionId()}`);
  try {
    return await work({ environment: { GIT_INDEX_FILE: file }, timeoutMs: LONG_MS });
  } finally {
    await tool.files.removeLeftover(file);
    await tool.files.removeLeftover(`${file}.lock`);
  }
}

async function treeOf(tool: Tool, path: string, facts: WorktreeFacts, options: GitOptions): Promise<string> {
  await tool.text(path, ["read-tree", "HEAD"], options);
  await tool.text(path, ["add", "--all", "--", "."], options);
  if (facts.ignored.length > 0) {
    const args = ["--literal-pathspecs", "add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
    await tool.text(path, args, { ...options, input: facts.ignored.map((name) => `${name}\0`).join("") });
  }
  const tree = await tool.text(path, ["write-tree"], options);
  await requireNoNewRepository(tool, path, tree);
  return tree;
}

/** Of a repository inside of it git would only note the commit, not what is in it. */
async function requireNoNewRepository(tool: Tool, path: string, tree: string): Promise<void> {
  const linksOf = async (what: string): Promise<readonly string[]> =>
    pieces(await tool.text(path, ["ls-tree", "-r", "-z", what])).filter((line) => line.startsWith("160000 "));
  const known = new Set((await linksOf("HEAD")).map(nameOf));
  const inside = (await linksOf(tree)).map(nameOf).find((name) => !known.has(name));
  if (inside === undefined) return;
  throw refusal(
    "nested-repository",
    `${inside} in ${path} is a repository of its own, which cannot be saved; move it away first.`,
  );
}

function nameOf(line: string): string {
  return line.slice(line.indexOf("\t") + 1);
}

async function indexOf(tool: Tool, path: string, options: GitOptions): Promise<string> {
  const entries = await tool.text(path, ["ls-files", "-z", "--stage"]);
  await tool.text(path, ["update-index", "-z", "--index-info"], { ...options, input: entries });
  return await tool.text(path, ["write-tree"], options);
}

/** Whether that is saved already. */
async function holds(
  tool: Tool,
  path: string,
  saved: string,
  tree: string,
  parents: readonly string[],
): Promise<boolean> {
  if ((await tool.maybe(path, ["rev-parse", `${saved}^{tree}`])) !== tree) return false;
  const known = (await tool.text(path, ["rev-list", "--parents", "--max-count=1", saved])).split(" ");
  return parents.every((parent) => known.includes(parent));
}

async function keep(tool: Tool, path: string, ref: string, commit: string, before: string | null): Promise<void> {
  const old = before ?? "0".repeat(commit.length);
  await tool.text(path, [...NO_HOOKS, "update-ref", "--create-reflog", "-m", "saved by Reeve", ref, commit, old]);
}
