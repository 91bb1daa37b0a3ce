import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGitRepository, type GitRepository } from "../../../test/support/git-repository.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { findCheckout, gitDirOf, headFrom, leftFor, readHead } from "./checkout-files.ts";

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.dispose());

const find = (directory: string) => findCheckout(localFiles, directory);
const gitDir = (): string => join(repository.root, ".git");
const head = () => readHead(localFiles, gitDir());
const logOfHead = async (): Promise<readonly string[]> =>
  (await localFiles.readTail(join(gitDir(), "logs", "HEAD"), { bytes: 65_536, since: null })).lines;

describe("the checkout of a directory", () => {
  it("is found from below, and by links", async () => {
    const deep = join(repository.root, "a", "b");
    mkdirSync(deep, { recursive: true });
    symlinkSync(deep, repository.beside("link"));
    const found = { root: repository.root, gitDir: gitDir() };
    expect([await find(repository.root), await find(deep), await find(repository.beside("link"))]).toEqual([
      found,
      found,
      found,
    ]);
  });

  it("has a HEAD of its own in a linked worktree", async () => {
    const root = repository.beside("linked");
    repository.git("worktree", "add", "--quiet", root, "feature");
    const found = await find(root);
    expect(found).toEqual({ root, gitDir: join(gitDir(), "worktrees", "linked") });
    expect(await readHead(localFiles, join(gitDir(), "worktrees", "linked"))).toMatchObject({ branch: "feature" });
    expect(await head()).toMatchObject({ branch: "main" });
  });

  it("is that of a submodule, whose git directory is in the outer one", async () => {
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository.root, "inner");
    const root = join(repository.root, "inner");
    expect(await find(root)).toEqual({ root, gitDir: join(gitDir(), "modules", "inner") });
  });

  it("is none outside of one, in a bare repository, and where .git says nothing that is there", async () => {
    const bare = repository.beside("bare.git");
    repository.git("clone", "--quiet", "--bare", repository.root, bare);
    const pretender = repository.beside("pretender");
    mkdirSync(pretender);
    writeFileSync(join(pretender, ".git"), "gitdir: /nonexistent\n");
    expect([await find(bare), await find(join(bare, "refs")), await find(gitDir())]).toEqual(["bare", "bare", "bare"]);
    expect([await find(tmpdir()), await find(pretender), await find("/nonexistent")]).toEqual([null, null, null]);
    expect(await gitDirOf(localFiles, pretender)).toBeNull();
  });
});

describe("what is checked out", () => {
  it("is a branch, also one without a commit, and one with a slash", async () => {
    repository.git("switch", "--quiet", "--create", "fix/x/y");
    expect(await head()).toEqual({ branch: "fix/x/y", commit: null, underWay: null });
    repository.git("switch", "--quiet", "--orphan", "fresh");
    expect(await head()).toEqual({ branch: "fresh", commit: null, underWay: null });
  });

  it("is a commit where HEAD is detached", async () => {
    repository.git("switch", "--quiet", "--detach");
    expect(await head()).toEqual({ branch: null, commit: repository.git("rev-parse", "HEAD").trim(), underWay: null });
  });

  it.each([["--merge"], ["--apply"]])("says that a rebase %s is under way, until that is over", async (backend) => {
    repository.commit("same", "of main\n");
    repository.tryGit("rebase", backend, "feature");
    expect(await head()).toMatchObject({ branch: null, underWay: "a rebase of main" });
    repository.git("rebase", "--abort");
    expect(await head()).toEqual({ branch: "main", commit: null, underWay: null });
  });

  it("says that a bisect is under way", async () => {
    repository.commit("other", "1\n");
    repository.commit("other", "2\n");
    repository.git("bisect", "start", "HEAD", "HEAD~2");
    expect(await head()).toMatchObject({ branch: null, underWay: "a bisect of main" });
  });

  it("is not known where HEAD holds something else, or is in reftables", () => {
    expect(["", "ref: refs/heads/.invalid\n", "zzz", "ref: a b", "a".repeat(39)].map(headFrom)).toEqual(
      Array.from({ length: 5 }, () => null),
    );
    expect(headFrom("a".repeat(64))?.commit).toBe("a".repeat(64));
    expect(headFrom("ref: refs/heads/ma\u001b[31min\n")?.branch).toBe("main");
  });
});

describe("where HEAD was between two looks", () => {
  it("is what git logged: a rebase, another branch, a commit; nothing else that moves it", async () => {
    const since = (await logOfHead()).length;
    const left = async () => leftFor("main", (await logOfHead()).slice(since));
    repository.commit("new", "1\n");
    repository.git("reset", "--quiet", "--hard", "HEAD");
    expect(await left()).toBeNull();
    repository.git("switch", "--quiet", "feature");
    repository.git("switch", "--quiet", "main");
    expect(await left()).toEqual({ branch: "feature", commit: null, underWay: null });
    const commit = repository.git("rev-parse", "feature").trim();
    repository.git("checkout", "--quiet", commit);
    repository.git("checkout", "--quiet", "main");
    expect(await left()).toEqual({ branch: null, commit, underWay: null });
    repository.git("rebase", "--quiet", "feature");
    expect(await left()).toEqual({ branch: null, commit: null, underWay: "a rebase of main" });
  });
});
