/**
 * Makes a fresh checkout one that can be worked in: ignored files that
 * `.worktreeinclude` names are copied from the main checkout, directories of the
 * settings are linked, submodules are filled. Nothing that is there is
 * overwritten, and no link is followed out of the worktree. What could not be
 * done is said, and stops nothing.
 */
import { dirname, isAbsolute, join } from "node:path";
import { pieces } from "../../fleet/git-output.ts";
import { listed } from "../../fleet/worktree-judgement.ts";
import { isInside } from "../../fleet/worktree-place.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { LONG_MS, standingAbove, type Tool } from "./repository.ts";
import { fillSubmodules } from "./submodules.ts";

export interface Furnishing {
  readonly main: string;
  readonly path: string;
  readonly repository: string;
  readonly links: readonly string[];
  /** Whether a remote may be asked, for submodules. */
  readonly fetch: boolean;
}

const INCLUDE = ".worktreeinclude";
const MOST_FILES = 1_000;
const MOST_BYTES = 268_435_456;

/** Sentences about what is not as in the main checkout. */
export async function furnish(tool: Tool, request: Furnishing): Promise<readonly string[]> {
  const steps = [copyIncluded, linkDirectories, fillSubmodules, lookAtHooks];
  const notes: string[] = [];
  for (const step of steps)
    try {
      notes.push(...(await step(tool, request)));
    } catch (error) {
      notes.push(`Setting up the worktree was not finished: ${messageOf(error)}`);
    }
  return notes;
}

async function copyIncluded(tool: Tool, { main, path }: Furnishing): Promise<readonly string[]> {
  const { files } = tool;
  if ((await files.stat(join(main, INCLUDE)))?.isFile !== true) return [];
  const named = await tool.text(main, ["ls-files", "-z", "--others", "--ignored", `--exclude-from=${INCLUDE}`]);
  // Only what git ignores: what it does not would be committed in the worktree by mistake.
  const said = await tool.run(main, ["check-ignore", "-z", "--stdin"], { input: named });
  const wanted = pieces(said.stdout);
  const left: string[] = [];
  let bytes = 0;
  let count = 0;
  for (const file of wanted) {
    const size = (await files.stat(join(main, file)))?.size ?? 0;
    if (
      file.endsWith("/") ||
      count >= MOST_FILES ||
      bytes + size > MOST_BYTES ||
      !(await copied(tool, main, path, file))
    )
      left.push(file);
    else {
      count += 1;
      bytes += size;
    }
  }
  if (left.length === 0) return [];
  return [
    `Not copied, although ${INCLUDE} names it: ${listed(left)} (a repository, behind a link, or beyond ${MOST_FILES} files or ${MOST_BYTES / 1_048_576} MB).`,
  ];
}

/** True also where something is there already. A link is copied as a link. */
async function copied(tool: Tool, main: string, path: string, file: string): Promise<boolean> {
  const target = join(path, file);
  if (!isInside(await standingAbove(tool.files, target), path)) return false;
  await runProgram(tool, "mkdir", ["-p", "--", dirname(target)]);
  const { status, stderr } = await runProgram(tool, "cp", ["-P", "-p", "-n", "--", join(main, file), target]);
  // Newer versions count it as a failure that something is there.
  return status === 0 || /not replacing/.test(stderr);
}

async function linkDirectories(tool: Tool, { main, path, links }: Furnishing): Promise<readonly string[]> {
  const { files } = tool;
  const notes: string[] = [];
  for (const name of links) {
    const target = join(path, name);
    const source = join(main, name);
    const above = await standingAbove(files, target);
    if ((await files.stat(source))?.isDirectory !== true || (await files.realPath(target)) !== null) continue;
    if (above !== dirname(target)) continue;
    // A pattern that ends in a slash does not ignore a link, and the link would be committed.
    if (await tool.isTrue(path, ["check-ignore", "--quiet", "--", name])) {
      await runProgram(tool, "ln", ["-s", "-T", "--", source, target]);
      continue;
    }
    notes.push(
      `${name} is not linked: git would not ignore the link. Write the pattern without a slash at its end: ${name}.`,
    );
  }
  return notes;
}

async function lookAtHooks(tool: Tool, { main, path }: Furnishing): Promise<readonly string[]> {
  const hooks = await tool.maybe(path, ["config", "--path", "core.hooksPath"]);
  if (hooks === null || hooks === "") return [];
  if (isAbsolute(hooks))
    return isInside(hooks, main)
      ? [`core.hooksPath is ${hooks}: commits in the worktree run the hooks of the main checkout, not its own.`]
      : [];
  const isThere = (await tool.files.stat(join(path, hooks)))?.isDirectory === true;
  if (isThere || (await tool.files.stat(join(main, hooks)))?.isDirectory !== true) return [];
  return [
    `core.hooksPath is ${hooks}, and the worktree has no such directory: no hook runs there. Run what installs the hooks (such as npm install) in the worktree, or commit the directory.`,
  ];
}

async function runProgram(tool: Tool, name: string, args: readonly string[]) {
  const program = await tool.files.findProgram(name, { cwd: "/", path: tool.paths["PATH"] });
  if (program === null) throw new Error(`there is no program ${name}`);
  return await tool.files.run(program.path, args, { environment: { ...tool.paths, LC_ALL: "C" }, timeoutMs: LONG_MS });
}
