/** What of a repository goes into a container, and that what is inside cannot choose it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { localFiles } from "../../runtime/local-files.ts";
import { plannedSession } from "../../session/session-fixture.ts";
import { sharedDirectories } from "./shared-directories.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "reeve-shared-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function git(cwd: string, ...args: readonly string[]): void {
  const person = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...person, "-C", cwd, ...args], { stdio: "ignore" });
}

async function sharedOf(root: string): Promise<readonly string[]> {
  const { identity, checkout } = plannedSession();
  const session = { identity: { ...identity, outputsDir: join(base, "own") }, checkout: { ...checkout, root } };
  return (await sharedDirectories(localFiles, session)).slice(1);
}

function repository(name: string): string {
  const path = join(base, name);
  mkdirSync(path);
  git(path, "init", "-q");
  git(path, "commit", "-q", "--allow-empty", "-m", "first");
  return path;
}

test("a worktree brings its repository, a submodule its own git directory, a plain checkout nothing more", async () => {
  const main = repository("main");
  const tree = join(base, "tree");
  git(main, "worktree", "add", "-q", tree);
  const outer = repository("outer");
  git(outer, "submodule", "--quiet", "add", main, "sub");
  expect(await sharedOf(main)).toEqual([main]);
  expect(await sharedOf(tree)).toEqual([tree, join(main, ".git")]);
  expect(await sharedOf(join(outer, "sub"))).toEqual([join(outer, "sub"), join(outer, ".git", "modules", "sub")]);
});

test("a pointer that was rewritten inside opens nothing else of the machine", async () => {
  const main = repository("main");
  const tree = join(base, "tree");
  git(main, "worktree", "add", "-q", tree);
  const hidden = join(base, "private");
  mkdirSync(hidden);
  const other = repository("other");
  git(other, "worktree", "add", "-q", join(base, "others-tree"));
  const forged = join(tree, "forged");
  mkdirSync(forged);
  writeFileSync(join(forged, "commondir"), `${hidden}\n`);
  writeFileSync(join(forged, "gitdir"), `${tree}/.git\n`);
  for (const to of [hidden, forged, join(other, ".git"), join(other, ".git", "worktrees", "others-tree")]) {
    writeFileSync(join(tree, ".git"), `gitdir: ${to}\n`);
    expect(await sharedOf(tree)).toEqual([tree]);
  }
});
