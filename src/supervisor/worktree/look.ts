/**
 * Looks at a worktree: everything in it that its removal could destroy. It
 * changes nothing and takes no lock. What could not be read is thrown, so a look
 * that failed is never taken for an empty worktree.
 */
import { basename, dirname, join } from "node:path";
import { parseStatus, pieces, type WorkingState } from "../../fleet/git-output.ts";
import { isDisposable, listed, type WorktreeFacts } from "../../fleet/worktree-judgement.ts";
import type { Worktree } from "../../fleet/worktree.ts";
import type { GitSettings } from "../launch/git-settings.ts";
import { commitsKept } from "./merged.ts";
import { gitFailed, type Tool, worktreesOf } from "./repository.ts";
import { submoduleProblems } from "./submodules.ts";

const STATUS = [
  "status",
  "--porcelain=v2",
  "-z",
  "--untracked-files=all",
  "--ignored=matching",
  "--ignore-submodules=none",
  "--no-renames",
];

const NOTHING: Omit<WorktreeFacts, "sessions"> = {
  strange: null,
  changed: 0,
  unmerged: 0,
  untracked: [],
  ignored: [],
  disposable: [],
  hidden: 0,
  nested: [],
  underWay: null,
  submodules: [],
  merged: "reachable",
  unpushed: 0,
  forgotten: [],
  stashes: 0,
  locked: null,
  lockFile: null,
  processes: [],
};

/** `sessions`: names of those that work in it. */
export async function lookAt(
  tool: Tool,
  worktree: Worktree,
  settings: GitSettings,
  sessions: readonly string[],
): Promise<WorktreeFacts> {
  const strange = await strangeness(tool, worktree);
  if (strange !== null) return { ...NOTHING, strange, sessions };
  const { path, branch } = worktree;
  const [all, state, hidden, own, submodules, commits, stashes, processes] = await Promise.all([
    worktreesOf(tool, path),
    stateIn(tool, path),
    hiddenIn(tool, path),
    gitsOwn(tool, path),
    submoduleProblems(tool, path),
    commitsKept(tool, worktree),
    stashesOf(tool, path, branch),
    tool.files.processesIn(path),
  ]);
  const { ignored, disposable, nested } = await sortIgnored(tool, worktree, settings, state.ignored);
  const repositories = state.untracked.filter((name) => name.endsWith("/"));
  return {
    strange: null,
    changed: new Set([...state.staged, ...state.modified]).size,
    unmerged: state.unmerged.length,
    untracked: state.untracked.filter((name) => !name.endsWith("/")),
    ignored,
    disposable,
    hidden,
    nested: [...repositories, ...nested],
    underWay: own.underWay,
    submodules,
    ...commits,
    stashes,
    locked: all.find((one) => one.path === path)?.locked ?? null,
    lockFile: own.lockFile,
    processes,
    sessions,
  };
}

export async function stateIn(tool: Tool, path: string): Promise<WorkingState> {
  const said = await tool.run(path, STATUS);
  // Git goes on where it may not read a directory, and says so beside its answer.
  if (said.status !== 0 || /could not open/.test(said.stderr)) throw gitFailed(STATUS, said);
  return parseStatus(said.stdout);
}

/** A link in its place, or a repository that is not the one it was made from, is never gone into. */
async function strangeness(tool: Tool, { path, main, repository }: Worktree): Promise<string | null> {
  const { files } = tool;
  const real = await files.realPath(path);
  if (real === null) return `${path} is not there any more; forget it with: git -C ${main} worktree prune.`;
  const entry = (await files.list(dirname(path))).find(({ name }) => name === basename(path));
  if (real !== path || entry?.isDirectory !== true) return `${path} is a link now, or lies behind one.`;
  const common = await tool.maybe(path, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
  const top = await tool.maybe(path, ["rev-parse", "--show-toplevel"]);
  if (top !== path || common === null || (await files.realPath(common)) !== repository)
    return `${path} is no longer a worktree of ${repository}.`;
  return null;
}

interface SortedIgnored {
  readonly ignored: readonly string[];
  readonly disposable: readonly string[];
  readonly nested: readonly string[];
}

async function sortIgnored(
  tool: Tool,
  { path, main }: Worktree,
  settings: GitSettings,
  found: readonly string[],
): Promise<SortedIgnored> {
  const disposable = found.filter((name) => isDisposable(name, settings.disposable));
  const nested: string[] = [];
  for (const directory of disposable) nested.push(...(await repositoriesIn(tool, path, directory)));
  const others = found.filter((name) => !disposable.includes(name));
  const files = others.filter((name) => !name.endsWith("/"));
  for (const directory of others.filter((name) => name.endsWith("/"))) {
    const inside = await tool.text(path, [
      "ls-files",
      "-z",
      "--others",
      "--ignored",
      "--exclude-standard",
      "--",
      `:(literal)${directory}`,
    ]);
    for (const name of pieces(inside)) (name.endsWith("/") ? nested : files).push(name);
  }
  const kept: string[] = [];
  const linked = new Set(settings.symlinkDirectories);
  const candidates: string[] = [];
  const kinds = await plainFiles(tool, path, files);
  for (const name of files) {
    if (kinds.has(name) && !name.includes("\n")) candidates.push(name);
    else if (!linked.has(name) || !(await leadsToMain(tool, path, main, name))) kept.push(name);
  }
  kept.push(...(await notInMain(tool, path, main, candidates)));
  return { ignored: kept, disposable, nested };
}

/** Repositories in a directory that is otherwise not looked into. */
async function repositoriesIn(tool: Tool, path: string, directory: string): Promise<readonly string[]> {
  const find = await tool.files.findProgram("find", { cwd: path, path: tool.paths["PATH"] });
  if (find === null) return [directory];
  const args = [join(path, directory), "-name", ".git", "-print", "-quit"];
  const said = await tool.files.run(find.path, args, { environment: { ...tool.paths }, timeoutMs: 60_000 });
  return said.status !== 0 || said.stdout !== "" ? [directory] : [];
}

/** Those that are files themselves, no links. */
async function plainFiles(tool: Tool, path: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const plain = new Set<string>();
  for (const [directory, inside] of Map.groupBy(names, (name) => dirname(name))) {
    const entries = new Set(
      (await tool.files.list(join(path, directory))).flatMap(({ name, isFile }) => (isFile ? [name] : [])),
    );
    for (const name of inside) if (entries.has(basename(name))) plain.add(name);
  }
  return plain;
}

async function leadsToMain(tool: Tool, path: string, main: string, name: string): Promise<boolean> {
  const there = await tool.files.realPath(join(path, name));
  return there !== null && there === (await tool.files.realPath(join(main, name)));
}

/** More are not compared: reading them all would take longer than anybody waits. */
const MOST_COMPARED = 5_000;

/** Files that the main checkout does not have, or has with another content. */
async function notInMain(tool: Tool, path: string, main: string, names: readonly string[]): Promise<readonly string[]> {
  if (names.length > MOST_COMPARED) return names;
  const both: string[] = [];
  for (const name of names) if ((await tool.files.stat(join(main, name)))?.isFile === true) both.push(name);
  if (both.length === 0) return names;
  const printsIn = async (directory: string): Promise<readonly string[]> => {
    const input = both.map((name) => `${join(directory, name)}\n`).join("");
    return (await tool.text(directory, ["hash-object", "--no-filters", "--stdin-paths"], { input })).split("\n");
  };
  const [here, there] = [await printsIn(path), await printsIn(main)];
  const same = new Set(both.filter((_, index) => here[index] === there[index]));
  return names.filter((name) => !same.has(name));
}

/** Files that are there although the index says not to look at them. */
async function hiddenIn(tool: Tool, path: string): Promise<number> {
  const marked = pieces(await tool.text(path, ["ls-files", "-v", "-z"])).filter((line) => /^[a-zS]/.test(line));
  let count = 0;
  // What a sparse checkout leaves out is not there.
  for (const line of marked) if ((await tool.files.realPath(join(path, line.slice(2)))) !== null) count += 1;
  return count;
}

const UNDER_WAY = [
  ["rebase-merge", "A rebase"],
  ["rebase-apply", "A rebase or git am"],
  ["MERGE_HEAD", "A merge"],
  ["CHERRY_PICK_HEAD", "A cherry-pick"],
  ["REVERT_HEAD", "A revert"],
  ["sequencer", "A cherry-pick or revert"],
  ["BISECT_LOG", "A bisect"],
] as const;

/** What git keeps beside the files: what it has begun, and its locks. */
async function gitsOwn(tool: Tool, path: string): Promise<Pick<WorktreeFacts, "underWay" | "lockFile">> {
  const directory = await gitDirectory(tool, path);
  const there = new Set((await tool.files.list(directory)).map(({ name }) => name));
  const lock = ["index.lock", "HEAD.lock"].find((name) => there.has(name));
  const holders = lock === undefined ? [] : await tool.files.processesIn(directory);
  const by = holders.length === 0 ? "" : ` (held by ${listed(holders)})`;
  return {
    underWay: UNDER_WAY.find(([name]) => there.has(name))?.[1] ?? null,
    lockFile: lock === undefined ? null : `${join(directory, lock)}${by}`,
  };
}

export async function gitDirectory(tool: Tool, path: string): Promise<string> {
  return await tool.text(path, ["rev-parse", "--path-format=absolute", "--git-dir"]);
}

/** Stashes belong to the repository; git notes in each on which branch it was made. */
async function stashesOf(tool: Tool, path: string, branch: string): Promise<number> {
  if (!(await tool.isTrue(path, ["show-ref", "--verify", "--quiet", "refs/stash"]))) return 0;
  const made = (await tool.text(path, ["reflog", "show", "--format=%gs", "refs/stash", "--"])).split("\n");
  return made.filter((line) => line.startsWith(`WIP on ${branch}:`) || line.startsWith(`On ${branch}:`)).length;
}
