/** Which branch and which directory a new worktree gets: none that anybody has, and none that a link leads out of. */
import { dirname, join } from "node:path";
import { isInside } from "../../fleet/worktree-place.ts";
import { BRANCH_PREFIX, type Worktree } from "../../fleet/worktree.ts";
import { refusal, type Repository, standingAbove, type Tool } from "./repository.ts";

export async function requireBranchName(tool: Tool, { top }: Repository, branch: string): Promise<void> {
  if (!branch.startsWith("-") && (await tool.isTrue(top, ["check-ref-format", `refs/heads/${branch}`]))) return;
  throw refusal("bad-branch", `"${branch}" cannot be the name of a branch; git check-ref-format says what can.`);
}

/** `reeve/<label>`, or with a number where that is taken: nobody finds the work of somebody else in it. */
export async function freeBranch(
  tool: Tool,
  { top, common }: Repository,
  label: string,
  all: readonly Worktree[],
): Promise<string> {
  for (let number = 1; ; number++) {
    const branch = `${BRANCH_PREFIX}${label}${number === 1 ? "" : `-${number}`}`;
    const isTaken =
      all.some((one) => one.repository === common && one.branch === branch) ||
      (await tool.isTrue(top, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]));
    if (!isTaken) return branch;
  }
}

/** Not through a link, not onto anything, and not where git would see it as files of the repository. */
export async function freePlace(tool: Tool, { main }: Repository, wanted: string): Promise<string> {
  const { files } = tool;
  const above = await standingAbove(files, wanted);
  const rest = wanted.slice((await nearestNamed(files, wanted)).length);
  const path = `${above === "/" ? "" : above}${rest}`;
  if (isInside(path, main) && !(await tool.isTrue(main, ["check-ignore", "--quiet", "--", path])))
    throw refusal(
      "worktree-in-tree",
      `${path} is inside the repository, and git does not ignore it; put another worktrees_dir into config.toml, or ignore it in .gitignore.`,
    );
  const isEmpty = (await files.list(path)).length === 0;
  if ((await files.stat(path)) === null || ((await files.stat(path))?.isDirectory === true && isEmpty)) return path;
  throw refusal(
    "worktree-path-taken",
    `${path} is there already and is no worktree of that branch; move it away, or name another branch.`,
    { path },
  );
}

/** The directory above that is there, as it was written. */
async function nearestNamed(files: Tool["files"], path: string): Promise<string> {
  for (let above = dirname(path); ; above = dirname(above))
    if ((await files.realPath(above)) !== null) return above === "/" ? "" : above;
}

/** Where the session works: the same place in the new checkout, where that is there. */
export async function placeWithin(tool: Tool, path: string, prefix: string): Promise<string> {
  if (prefix === "") return path;
  const inside = join(path, prefix).replace(/\/$/, "");
  return (await tool.files.realPath(inside)) === inside ? inside : path;
}
