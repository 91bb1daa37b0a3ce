/**
 * Runs git of this machine in a repository that a container may write to. Git runs programs that a repository's
 * configuration names: filters, merge drivers, monitors, hooks, what checks signatures, what a remote is asked by. So
 * the configuration is never git's to read. Each run gets a shared git directory of its own, which is removed after it:
 *
 *     <run>/config                   what is harmless in the repository's configuration (KEPT), and nothing else
 *     <run>/objects, refs, logs, ... links to the repository's own
 *
 * Git takes that for the repository's (GIT_COMMON_DIR). There is nothing to win by changing the configuration at the
 * right moment: it was read before git began. What the person's own configuration names is run as ever.
 *
 * Git that is started by git reads the configuration again, for example in a submodule. So it is not found
 * (GIT_EXEC_PATH), except where it is needed: then it is told where to look in the same way.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readPlainFileIfFit } from "../../platform/plain-file.ts";
import { localFiles } from "../local-files.ts";
import type { ProgramRun, RunOptions } from "../session-files.ts";

/** Keys in lower case, with a star for what somebody names. None of them names a program, nor a place to read more from. */
const KEPT = new Set(
  `core.repositoryformatversion core.filemode core.ignorecase core.precomposeunicode core.symlinks
  core.autocrlf core.eol core.safecrlf core.quotepath core.logallrefupdates core.abbrev core.sparsecheckout
  core.sparsecheckoutcone extensions.objectformat extensions.refstorage branch.*.remote branch.*.merge remote.*.url
  remote.*.fetch user.name user.email`.split(/\s+/),
);
/** What is the repository's own in its git directory, beside its configuration, attributes and hooks. */
const LINKED = [
  "objects",
  "refs",
  "packed-refs",
  "reftable",
  "logs",
  "shallow",
  "worktrees",
  "modules",
  "info/exclude",
];
const MOST_CONFIG_BYTES = 1_048_576;

/** Over every file, also for git that is started by git. */
const OVERRIDES = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.sshCommand", "ssh"],
  ["core.alternateRefsCommand", "true"],
  ["log.showSignature", "false"],
  ["protocol.ext.allow", "never"],
] as const;

const GUARDS: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: String(OVERRIDES.length),
  ...Object.fromEntries(
    OVERRIDES.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
  // Objects that are missing are not fetched, whatever the repository promises.
  GIT_NO_LAZY_FETCH: "1",
};
/** No remote at all, by any way. */
const NO_REMOTE = { GIT_ALLOW_PROTOCOL: "none" } as const;

/** These say where the repository is, or change it, and start nothing that is configured: they must see the real one. */
const DIRECT = new Set(["rev-parse", "worktree", "config", "check-ref-format"]);
/** These compare files: what is inside of submodules is looked at by going there. */
const COMPARING = new Set(["status", "diff"]);

interface Command {
  readonly where: string;
  /** Options of git itself. */
  readonly before: readonly string[];
  readonly verb: string;
  readonly rest: readonly string[];
}

/** `runDir`: where its directories are made; only this user may write there. */
export async function runGuardedGit(
  git: string,
  args: readonly string[],
  options: RunOptions,
  runDir: string,
): Promise<ProgramRun> {
  const command = parse(args);
  if (command.verb === "worktree" && command.rest[0] === "add") return await addWorktree(git, command, options, runDir);
  if (command.verb === "worktree" && command.rest[0] === "remove")
    return await removeWorktree(git, command, options, runDir);
  if (DIRECT.has(command.verb)) return await direct(git, command, options, runDir);
  return await withCopy(git, command, options, runDir);
}

function parse(args: readonly string[]): Command {
  const [flag, where] = args;
  if (flag !== "-C" || where === undefined) throw new Error("git is run in a directory that is named first");
  let at = 2;
  while (args[at]?.startsWith("-") === true) at += args[at] === "-c" || args[at] === "-C" ? 2 : 1;
  return { where, before: args.slice(2, at), verb: args[at] ?? "", rest: args.slice(at + 1) };
}

/** As git would be run, without children that git would start, and without remotes. */
async function direct(git: string, command: Command, options: RunOptions, runDir: string): Promise<ProgramRun> {
  const { where, before, verb, rest } = command;
  return await within(runDir, (directory) =>
    localFiles.run(git, ["-C", where, ...before, verb, ...rest], {
      ...options,
      environment: { ...options.environment, ...GUARDS, ...NO_REMOTE, GIT_EXEC_PATH: directory },
    }),
  );
}

async function withCopy(git: string, command: Command, options: RunOptions, runDir: string): Promise<ProgramRun> {
  const { where, before, verb } = command;
  const place = repositoryAt(where);
  // Whatever git says of that: there is no configuration but the person's own.
  if (place === null) return await direct(git, command, options, runDir);
  return await within(runDir, async (directory) => {
    await layCopy(git, place, directory, options);
    const mayStartMore = verb === "fetch";
    const environment = {
      ...options.environment,
      ...GUARDS,
      ...(mayStartMore ? {} : { ...NO_REMOTE, GIT_EXEC_PATH: directory }),
      GIT_DIR: place.gitDir,
      GIT_COMMON_DIR: directory,
      ...(place.root === null ? { GIT_IMPLICIT_WORK_TREE: "0" } : { GIT_WORK_TREE: place.root }),
    };
    const rest = COMPARING.has(verb) ? withoutSubmodules(command.rest) : command.rest;
    return await localFiles.run(git, ["-C", where, ...before, verb, ...rest], { ...options, environment });
  });
}

function withoutSubmodules(rest: readonly string[]): readonly string[] {
  return ["--ignore-submodules=dirty", ...rest.filter((word) => !word.startsWith("--ignore-submodules"))];
}

/** Git itself would start git to write the files, which would read the configuration. */
async function addWorktree(git: string, command: Command, options: RunOptions, runDir: string): Promise<ProgramRun> {
  const { where, before, verb, rest } = command;
  const [, ...words] = rest;
  const path = words.find((word, index) => word.startsWith("/") && words[index - 1] !== "-b");
  const environment = { ...options.environment, ...GUARDS, ...NO_REMOTE };
  const args = ["-C", where, ...before, verb, "add", "--no-checkout", ...words];
  const made = await localFiles.run(git, args, { ...options, environment });
  if (made.status !== 0 || path === undefined) return made;
  const reset: Command = { where: path, before, verb: "reset", rest: ["--hard", "--quiet", "--no-recurse-submodules"] };
  return await withCopy(git, reset, options, runDir);
}

/** The same for its look whether anything in it would be lost. */
async function removeWorktree(git: string, command: Command, options: RunOptions, runDir: string): Promise<ProgramRun> {
  const { before, rest } = command;
  const path = rest.at(-1) ?? "";
  if (!rest.includes("--force") && existsSync(path)) {
    const look: Command = { where: path, before, verb: "status", rest: ["--porcelain"] };
    const state = await withCopy(git, look, options, runDir);
    if (state.status !== 0) return state;
    if (state.stdout !== "")
      return { status: 128, stdout: "", stderr: `fatal: '${path}' contains modified or untracked files` };
  }
  const forced = rest.includes("--force") ? rest : ["remove", "--force", ...rest.slice(1)];
  return await direct(git, { ...command, rest: forced }, options, runDir);
}

interface Place {
  /** Null: it is a git directory itself. */
  readonly root: string | null;
  readonly gitDir: string;
  readonly common: string;
}

/** As gitrepository-layout(5) has it. What is written in there may lead anywhere; nothing of it is run. */
function repositoryAt(where: string): Place | null {
  for (let level = realpathSync(where); ; level = dirname(level)) {
    const gitDir = gitDirIn(level);
    if (gitDir !== null) return { root: level, gitDir, common: commonOf(gitDir) };
    if (isGitDir(level)) return { root: null, gitDir: level, common: commonOf(level) };
    if (level === dirname(level)) return null;
  }
}

function gitDirIn(root: string): string | null {
  const path = join(root, ".git");
  const about = lstatSync(path, { throwIfNoEntry: false });
  if (about === undefined) return null;
  if (!about.isFile()) return isGitDir(path) ? path : null;
  const named = /^gitdir: (.+)$/m.exec(readPlainFileIfFit(path, 4_096) ?? "")?.[1];
  return named === undefined ? null : resolve(root, named);
}

function isGitDir(path: string): boolean {
  return existsSync(join(path, "HEAD")) && (existsSync(join(path, "objects")) || existsSync(join(path, "commondir")));
}

function commonOf(gitDir: string): string {
  const named = readPlainFileIfFit(join(gitDir, "commondir"), 4_096)?.trim() ?? "";
  return named === "" ? gitDir : resolve(gitDir, named);
}

async function layCopy(git: string, { common }: Place, directory: string, options: RunOptions): Promise<void> {
  mkdirSync(join(directory, "info"), { mode: 0o700 });
  for (const name of LINKED) symlinkSync(join(common, name), join(directory, name));
  const theirs = join(directory, "theirs");
  writeFileSync(theirs, readPlainFileIfFit(join(common, "config"), MOST_CONFIG_BYTES) ?? "", { mode: 0o600 });
  // In there git finds no repository whose configuration it would read.
  const listing = ["-C", directory, "config", "--file", theirs, "--no-includes", "--null", "--list"];
  const environment = { ...options.environment, GIT_CEILING_DIRECTORIES: dirname(directory) };
  const listed = await localFiles.run(git, listing, { timeoutMs: options.timeoutMs, environment });
  const kept = listed.status === 0 ? listed.stdout.split("\0").flatMap(keptEntry) : [];
  writeFileSync(join(directory, "config"), kept.join(""), { mode: 0o600 });
}

/** `section.name.key` and its value, with a line feed between; without one it is true. */
function keptEntry(entry: string): readonly string[] {
  const [, section = "", name, key = "", value = "true"] =
    /^([a-z]+)\.(?:([^\n]*)\.)?([a-z0-9]+)(?:\n([^]*))?$/.exec(entry) ?? [];
  if (!KEPT.has(name === undefined ? `${section}.${key}` : `${section}.*.${key}`)) return [];
  const header = name === undefined ? `[${section}]` : `[${section} "${name.replace(/[\\"]/g, "\\$&")}"]`;
  const quoted = value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
  return [`${header}\n\t${key} = "${quoted}"\n`];
}

async function within<T>(runDir: string, work: (directory: string) => Promise<T>): Promise<T> {
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const directory = mkdtempSync(join(runDir, "git-"));
  // `git` is looked for in here first, and found to be nothing that runs.
  writeFileSync(join(directory, "git"), "#!/bin/sh\nexit 125\n", { mode: 0o700 });
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
