import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { projectName, projectOf } from "./project.ts";

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "reeve-project-")));
  const git = (...words: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-C", join(root, "a"), ...words]);
  mkdirSync(join(root, "a", "src"), { recursive: true });
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message", "first");
  git("worktree", "add", "--quiet", join(root, "b"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it("is one for a repository, its directories and its worktrees", () => {
  for (const directory of ["a", "a/src", "b"])
    expect([directory, projectOf(join(root, directory))]).toEqual([directory, join(root, "a", ".git")]);
  expect(projectName(join(root, "a", ".git"))).toBe(join(root, "a"));
});

it("is the directory itself outside of a repository, also one that is gone or whose .git makes no sense", () => {
  const plain = join(root, "plain");
  mkdirSync(plain);
  expect(projectOf(plain)).toBe(plain);
  expect(projectOf(join(root, "gone"))).toBe(join(root, "gone"));
  writeFileSync(join(plain, ".git"), "nonsense");
  expect(projectOf(plain)).toBe(plain);
});

it("takes no empty .git for a repository, as Codex's sandbox leaves one in each directory while a command runs there", () => {
  const around = join(root, "around");
  mkdirSync(join(around, "plain"), { recursive: true });
  for (const directory of [around, join(around, "plain")]) mkdirSync(join(directory, ".git"));
  expect(projectOf(join(around, "plain"))).toBe(join(around, "plain"));
});
