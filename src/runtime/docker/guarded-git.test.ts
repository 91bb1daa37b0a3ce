import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { localFiles } from "../local-files.ts";
import type { ProgramRun, SessionFiles } from "../session-files.ts";
import { createContainerFiles } from "./container-files.ts";

/**
 * A repository whose configuration names a program wherever git lets it. Each trap is shown to work with git as it is,
 * and to stay closed with git as Reeve runs it for a session in a container.
 */
let base: string;
let repository: string;
let escaped: string;
let program: string;
let files: SessionFiles;
let git: string;

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "reeve-git-")));
  repository = join(base, "shop");
  escaped = join(base, "escaped");
  program = join(base, "program");
  // As a filter it passes on what it reads, so that git goes on.
  writeFileSync(program, `#!/bin/sh\necho ran >>${escaped}\nexec cat\n`, { mode: 0o700 });
  writeFileSync(`${program}-ends`, `#!/bin/sh\necho ran >>${escaped}\n`, { mode: 0o700 });
  writeFileSync(join(base, ".gitconfig"), "[user]\n name = S\n email = s@example.com\n[init]\n defaultBranch = main\n");
  execFileSync("git", ["init", "-q", repository], { env: environment() });
  write("a.txt", "a\n");
  run("add", ".");
  run("commit", "-q", "-m", "first");
  files = createContainerFiles({ outputsDir: "/nonexistent", gitDir: join(base, "run") });
  git = (await localFiles.findProgram("git", { cwd: "/", path: process.env["PATH"] }))?.path ?? "";
});
afterEach(() => {
  expect(existsSync(join(base, "run")) ? readdirSync(join(base, "run")) : []).toEqual([]);
  rmSync(base, { recursive: true, force: true });
});

const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: base,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
});
const run = (...args: readonly string[]): string =>
  execFileSync("git", ["-C", repository, ...args], {
    env: environment(),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
  });
const write = (name: string, text: string): void => writeFileSync(join(repository, name), text);
const poison = (text: string): void => appendFileSync(join(repository, ".git", "config"), text);
const ask = (by: SessionFiles, where: string, ...args: readonly string[]): Promise<ProgramRun> =>
  by.run(git, ["-C", where, ...args], { environment: environment(), timeoutMs: 30_000 });

/** Guarded first: what the trap does may leave nothing for the second try. */
async function expectClosed(...args: readonly string[]): Promise<ProgramRun> {
  const said = await ask(files, repository, ...args);
  expect(existsSync(escaped), `git ${args.join(" ")}: ${said.stderr}`).toBe(false);
  await ask(localFiles, repository, ...args);
  expect(existsSync(escaped), `the trap for git ${args.join(" ")} is none`).toBe(true);
  return said;
}

const filtered = (kind: string): void => {
  write(".gitattributes", "* filter=evil\n");
  poison(`[filter "evil"]\n\t${kind} = ${program}\n`);
};

describe("a program that the repository's configuration names is not run", () => {
  test("by a filter, when git looks at a changed file", async () => {
    filtered("clean");
    write("a.txt", "b\n");
    const said = await expectClosed("status", "--porcelain=v2", "--branch", "-z");
    expect(said.stdout).toContain("a.txt");
    expect(said.stdout).toContain("# branch.head main");
  });

  test("by a monitor of the file system or a hook", async () => {
    poison(`[core]\n\tfsmonitor = ${program}-ends\n\thooksPath = ${base}/hooks\n`);
    mkdirSync(join(base, "hooks"));
    for (const name of ["post-index-change", "reference-transaction", "post-checkout"])
      writeFileSync(join(base, "hooks", name), `#!/bin/sh\necho ran >>${escaped}\n`, { mode: 0o700 });
    await expectClosed("status", "--porcelain");
    rmSync(escaped);
    await expectClosed("update-ref", "refs/reeve/x", "HEAD");
    rmSync(escaped);
    await ask(files, repository, "worktree", "add", "--quiet", "-b", "one", join(base, "one"), "HEAD");
    expect(existsSync(escaped)).toBe(false);
  });

  test("by a filter process, when everything is added", async () => {
    filtered("process");
    write("new.txt", "b\n");
    const said = await ask(files, repository, "add", "--all", "--", ".");
    expect([said.status, existsSync(escaped)]).toEqual([0, false]);
    expect((await ask(files, repository, "ls-files")).stdout).toContain("new.txt");
    // What is in the index by now leaves plain git nothing to filter.
    write("newer.txt", "c\n");
    await ask(localFiles, repository, "add", "--all", "--", ".");
    expect(existsSync(escaped)).toBe(true);
  });

  test("by a filter, when a worktree is made", async () => {
    filtered("smudge");
    run("add", ".");
    run("-c", "filter.evil.smudge=", "commit", "-q", "-m", "attributes");
    rmSync(escaped, { force: true });
    const tree = (name: string): readonly string[] => [
      "worktree",
      "add",
      "--quiet",
      "--no-track",
      "-b",
      name,
      join(base, name),
      "HEAD",
    ];
    const said = await ask(files, repository, ...tree("one"));
    expect([said.status, said.stderr]).toEqual([0, ""]);
    expect(existsSync(escaped)).toBe(false);
    expect((await ask(files, join(base, "one"), "status", "--porcelain")).stdout).toBe("");
    expect((await ask(files, join(base, "one"), "rev-parse", "--abbrev-ref", "HEAD")).stdout).toBe("one\n");
    await ask(localFiles, repository, ...tree("two"));
    expect(existsSync(escaped)).toBe(true);
  });

  test("by a filter or a hook, when a worktree is removed, and changes keep it", async () => {
    const path = join(base, "one");
    run("worktree", "add", "-q", "-b", "one", path);
    writeFileSync(join(path, ".gitattributes"), "* filter=evil\n");
    poison(`[filter "evil"]\n\tclean = ${program}\n`);
    writeFileSync(join(path, "a.txt"), "b\n");
    const refused = await ask(files, repository, "worktree", "remove", "--", path);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain("contains modified or untracked files");
    expect(existsSync(escaped)).toBe(false);
    await ask(localFiles, repository, "worktree", "remove", "--", path);
    expect(existsSync(escaped)).toBe(true);
    rmSync(escaped);
    rmSync(join(path, ".gitattributes"));
    writeFileSync(join(path, "a.txt"), "a\n");
    expect((await ask(files, repository, "worktree", "remove", "--", path)).status).toBe(0);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(escaped)).toBe(false);
  });

  test("by a merge driver, when it is looked whether a branch is merged", async () => {
    write(".gitattributes", "* merge=evil\n");
    run("add", ".");
    run("commit", "-q", "-m", "attributes");
    run("checkout", "-q", "-b", "other");
    write("a.txt", "other\n");
    run("commit", "-q", "-a", "-m", "other");
    run("checkout", "-q", "main");
    write("a.txt", "main\n");
    run("commit", "-q", "-a", "-m", "main");
    poison(`[merge "evil"]\n\tdriver = ${program} %O %A %B\n`);
    const said = await expectClosed("merge-tree", "--write-tree", "--no-messages", "main", "other");
    expect(said.status).toBe(1);
  });

  test("by a signature that is to be checked", async () => {
    const tree = run("rev-parse", "HEAD^{tree}").trim();
    const signed = `tree ${tree}\nauthor S <s@example.com> 1 +0000\ncommitter S <s@example.com> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n`;
    const made = execFileSync("git", ["-C", repository, "hash-object", "-t", "commit", "-w", "--stdin"], {
      env: environment(),
      input: signed,
    });
    run("reset", "-q", "--hard", made.toString().trim());
    poison(`[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ${program}\n`);
    const said = await expectClosed("log", "-1", "--format=%H", "HEAD", "--");
    expect(said.stdout).toBe(made.toString());
  });

  test("by a remote that lacking objects are to be fetched from", async () => {
    const tree = run("rev-parse", "HEAD^{tree}").trim();
    rmSync(join(repository, ".git", "objects", tree.slice(0, 2), tree.slice(2)));
    poison(`[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n`);
    poison(`[remote "origin"]\n\turl = ${base}\n\tpromisor = true\n\tuploadpack = ${program}-ends\n`);
    for (const args of [
      ["cat-file", "-t", tree],
      ["rev-parse", "HEAD^{tree}"],
      ["status", "--porcelain"],
    ]) {
      await ask(files, repository, ...args);
      expect(existsSync(escaped), args.join(" ")).toBe(false);
    }
    await ask(localFiles, repository, "cat-file", "-t", tree);
    expect(existsSync(escaped)).toBe(true);
  });

  test("by a remote that is fetched from", async () => {
    const remote = join(base, "remote.git");
    execFileSync("git", ["clone", "-q", "--bare", repository, remote], { env: environment() });
    run("remote", "add", "origin", remote);
    poison(`[remote "origin"]\n\tuploadpack = ${program}-ends\n`);
    const said = await expectClosed("fetch", "--quiet", "--no-recurse-submodules", "--no-auto-maintenance", "origin");
    expect([said.status, said.stderr]).toEqual([0, ""]);
    expect((await ask(files, repository, "rev-parse", "refs/remotes/origin/main")).status).toBe(0);
  });

  test("in a repository inside of it", async () => {
    const inner = join(base, "inner");
    execFileSync("git", ["clone", "-q", repository, inner], { env: environment() });
    run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub");
    run("commit", "-q", "-m", "sub");
    appendFileSync(join(repository, ".git", "modules", "sub", "config"), `[filter "evil"]\n\tclean = ${program}\n`);
    write("sub/.gitattributes", "* filter=evil\n");
    write("sub/a.txt", "b\n");
    await expectClosed("status", "--porcelain", "--ignore-submodules=none");
    rmSync(escaped);
    await expectClosed("add", "--all", "--", ".");
    rmSync(escaped);
    const said = await ask(files, join(repository, "sub"), "status", "--porcelain", "--ignore-submodules=none");
    expect([said.stdout.includes("a.txt"), existsSync(escaped)]).toEqual([true, false]);
  });

  test("wherever it says that its configuration lies", async () => {
    const other = join(base, "other");
    mkdirSync(join(other, "refs"), { recursive: true });
    mkdirSync(join(other, "objects"));
    writeFileSync(join(other, "config"), `[filter "evil"]\n\tclean = ${program}\n`);
    write(".gitattributes", "* filter=evil\n");
    write("a.txt", "b\n");
    for (const [name, text] of [
      ["commondir", `${other}\n`],
      ["config", `[include]\n\tpath = ${other}/config\n`],
      ["config.worktree", `[filter "evil"]\n\tclean = ${program}\n`],
    ] as const) {
      if (name === "config.worktree")
        poison("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n");
      if (name === "config") poison(text);
      else writeFileSync(join(repository, ".git", name), text);
      if (name === "commondir")
        execFileSync("cp", ["-r", join(repository, ".git", "objects"), join(repository, ".git", "refs"), other]);
      await expectClosed("status", "--porcelain");
      rmSync(escaped);
      if (name === "commondir") rmSync(join(repository, ".git", name));
      if (name === "config") run("config", "--unset", "include.path");
    }
  });
});

test("what a person's own configuration names is run as ever", async () => {
  appendFileSync(join(base, ".gitconfig"), `[filter "lfs"]\n\tclean = ${program}\n`);
  write(".gitattributes", "* filter=lfs\n");
  write("a.txt", "b\n");
  await ask(files, repository, "status", "--porcelain");
  expect(existsSync(escaped)).toBe(true);
});

test("git answers as it would, in a checkout, below it, in a worktree, and in the repository", async () => {
  const worktree = join(base, "tree");
  run("worktree", "add", "-q", "-b", "tree", worktree);
  mkdirSync(join(repository, "below"));
  write("below/new.txt", "x\n");
  run("config", "core.fileMode", "false");
  const questions = [
    ["status", "--porcelain=v2", "--branch", "-z"],
    ["rev-parse", "--show-toplevel", "--show-prefix", "--path-format=absolute", "--git-common-dir", "--git-dir"],
    ["worktree", "list", "--porcelain", "-z"],
    ["log", "-1", "--format=%H %ct", "--end-of-options", "HEAD^{commit}", "--"],
    ["reflog", "show", "--format=%H", "HEAD", "--"],
    ["rev-list", "--count", "HEAD", "--not", "--remotes"],
    ["ls-files", "-v", "-z"],
    ["ls-files", "-z", "--others", "--exclude-standard"],
    ["for-each-ref", "--format=%(refname:short)", "refs/heads"],
    ["symbolic-ref", "--quiet", "--short", "HEAD"],
    ["config", "core.fileMode"],
    ["remote"],
    ["diff", "--no-ext-diff", "--no-textconv", "--stat=100", "HEAD"],
  ];
  for (const where of [repository, join(repository, "below"), worktree, join(repository, ".git"), base])
    for (const question of questions)
      expect([where, question, await ask(files, where, ...question)]).toEqual([
        where,
        question,
        await ask(localFiles, where, ...question),
      ]);
});
