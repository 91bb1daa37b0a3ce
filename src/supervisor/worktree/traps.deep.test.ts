/** The twelve ways in which worktrees destroy work or stop it, each with real git. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { contentOf, isThere, makeGround, type WorktreeGround } from "./worktree-fixture.ts";

let ground: WorktreeGround;
const children: ChildProcess[] = [];
beforeEach(async () => {
  ground = await makeGround();
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    const closed = new Promise((resolve) => child.once("close", resolve));
    if (child.exitCode === null && child.kill("SIGKILL")) await closed;
  }
  await ground.dispose();
});

it("keeps what holds work: a branch without commits but with changes, one whose upstream is gone, one with five commits", async () => {
  const dirty = await ground.make({ branch: "no-commits" });
  ground.write(dirty.worktree.path, { "readme.md": "changed\n", "new.txt": "new\n" });
  expect(await ground.obstacles(dirty)).toEqual(["changed", "untracked"]);
  expect(await ground.remove(dirty)).toMatchObject({ isRemoved: false });
  expect(contentOf(dirty.worktree.path, "new.txt")).toBe("new\n");

  const gone = await ground.make({ branch: "gone" });
  for (const number of [1, 2, 3, 4, 5]) ground.commit(gone.worktree.path, { [`file-${number}`]: `${number}\n` });
  expect(await ground.remove(gone)).toMatchObject({
    isRemoved: false,
    obstacles: [{ code: "unpushed", text: "5 commits are neither pushed nor merged.", isSavable: true }],
  });
  ground.git(gone.worktree.path, "push", "--quiet", "-u", "origin", "gone");
  expect(await ground.obstacles(gone)).toEqual([]);
  ground.git(ground.remote, "update-ref", "-d", "refs/heads/gone");
  ground.git(ground.main, "fetch", "--quiet", "--prune");
  expect(ground.git(gone.worktree.path, "status", "-sb")).toContain("[gone]");
  expect(await ground.remove(gone)).toMatchObject({ isRemoved: false, obstacles: [{ code: "unpushed" }] });
  expect(isThere(join(gone.worktree.path, "file-5"))).toBe(true);

  ground.git(gone.worktree.path, "push", "--quiet", "origin", "gone");
  expect(await ground.remove(gone)).toMatchObject({ isRemoved: true });
  expect(isThere(gone.worktree.path)).toBe(false);
  // The branch is not the worktree: it stays unless somebody wants it deleted.
  expect(ground.git(ground.main, "rev-list", "--count", "main..gone")).toBe("5");
});

it("leaves alone what was done in the main checkout from inside a worktree, and takes no repository from the environment", async () => {
  const made = await ground.make({
    environment: {
      PATH: process.env["PATH"] ?? "",
      HOME: ground.dir,
      GIT_DIR: join(ground.dir, "elsewhere"),
      GIT_WORK_TREE: ground.dir,
      GIT_INDEX_FILE: join(ground.dir, "index"),
    },
  });
  expect(ground.git(made.worktree.path, "rev-parse", "--show-toplevel")).toBe(made.worktree.path);
  expect(made.worktree.paths).not.toHaveProperty("GIT_DIR");
  // An agent that reaches out with git -C.
  const commit = ground.commit(ground.main, { "from-inside.txt": "x\n" });
  ground.write(ground.main, { "not-committed.txt": "y\n" });
  expect(await ground.remove(made)).toMatchObject({ isRemoved: true });
  expect(ground.git(ground.main, "rev-parse", "main")).toBe(commit);
  expect(contentOf(ground.main, "not-committed.txt")).toBe("y\n");
});

it("counts the commits of what is checked out now, and of the branch it was made for", async () => {
  const made = await ground.make({ branch: "mine" });
  ground.commit(made.worktree.path, { "mine.txt": "1\n" });
  ground.git(made.worktree.path, "checkout", "--quiet", "-b", "other", "main");
  expect(await ground.obstacles(made)).toEqual(["unpushed"]);
  ground.commit(made.worktree.path, { "other.txt": "2\n" });
  ground.git(made.worktree.path, "push", "--quiet", "origin", "mine");
  expect(await ground.obstacles(made)).toEqual(["unpushed"]);
  ground.git(made.worktree.path, "push", "--quiet", "origin", "other");
  expect(await ground.obstacles(made)).toEqual([]);
  // A commit on no branch, which only the reflog of this worktree knows once it was left.
  ground.git(made.worktree.path, "checkout", "--quiet", "--detach");
  const lost = ground.commit(made.worktree.path, { "detached.txt": "3\n" });
  ground.git(made.worktree.path, "checkout", "--quiet", "mine");
  expect(await ground.remove(made)).toMatchObject({ isRemoved: false, obstacles: [{ code: "reflog-only" }] });
  expect(await ground.remove(made, { save: true })).toMatchObject({ isRemoved: true });
  expect(ground.git(ground.main, "branch", "--all", "--contains", lost)).toBe("");
  expect(ground.git(ground.main, "for-each-ref", "--contains", lost, "--format=%(refname)")).toBe(
    "refs/reeve/session1",
  );
});

it("is no empty environment: ignored files are copied, directories linked, submodules filled, and nothing leads out", async () => {
  await ground.dispose();
  ground = await makeGround({ symlinkDirectories: ["node_modules", "local"] });
  const library = join(ground.dir, "library");
  ground.git(ground.dir, "init", "--quiet", library);
  ground.commit(library, { "lib.txt": "library\n" });
  ground.git(ground.main, "submodule", "--quiet", "add", library, "vendor/library");
  ground.commit(
    ground.main,
    { ".worktreeinclude": ".env\nlocal/*.json\nnotes.txt\n", "deep/tracked.txt": "" },
    "submodule",
  );
  mkdirSync(join(ground.main, "node_modules/left-pad"), { recursive: true });
  ground.write(ground.main, {
    ".env": "KEY=1\n",
    "deep/.env": "DEEP=1\n",
    "local/settings.json": "{}\n",
    "local/cache.bin": "not named\n",
    // Named, but not ignored: it would be committed by mistake.
    "notes.txt": "not ignored\n",
  });
  // What is a directory here was a link out of the tree at the base.
  const outside = join(ground.dir, "outside");
  mkdirSync(outside);
  const made = await ground.make();
  const { path } = made.worktree;
  expect(contentOf(path, ".env")).toBe("KEY=1\n");
  expect(contentOf(path, "deep/.env")).toBe("DEEP=1\n");
  expect(contentOf(path, "vendor/library/lib.txt")).toBe("library\n");
  expect(ground.git(join(path, "vendor/library"), "remote", "get-url", "origin")).toBe(library);
  expect(readlinkSync(join(path, "node_modules"))).toBe(join(ground.main, "node_modules"));
  expect(isThere(join(path, "notes.txt"))).toBe(false);
  expect(contentOf(path, "local/settings.json")).toBe("{}\n");
  expect(isThere(join(path, "local/cache.bin"))).toBe(false);
  expect(made.notes).toEqual([]);
  expect(ground.git(path, "status", "--porcelain")).toBe("");
  // Copies that are as in the main checkout, links to it and clean submodules are no work.
  expect(await ground.obstacles(made)).toEqual([]);

  ground.git(ground.main, "checkout", "--quiet", "-b", "linked");
  rmSync(join(ground.main, "deep"), { recursive: true });
  symlinkSync(outside, join(ground.main, "deep"));
  ground.git(ground.main, "add", "deep");
  ground.git(ground.main, "commit", "--quiet", "-m", "deep is a link");
  ground.git(ground.main, "checkout", "--quiet", "main");
  ground.write(ground.main, { "deep/.env": "DEEP=1\n" });
  const linked = await ground.make({ label: "linked", base: "linked" });
  expect(isThere(join(outside, ".env"))).toBe(false);
  expect(linked.notes).toEqual([expect.stringContaining("deep/.env") as string]);

  ground.commit(join(path, "vendor/library"), { "lib.txt": "changed\n" });
  expect(await ground.obstacles(made)).toEqual(["submodule", "changed"]);
  expect(await ground.remove(made, { save: true })).toMatchObject({ isRemoved: false });
  expect(contentOf(path, "vendor/library/lib.txt")).toBe("changed\n");
  ground.git(join(path, "vendor/library"), "checkout", "--quiet", "HEAD~1");
  // The commit is still only there.
  expect(await ground.obstacles(made)).toEqual(["submodule"]);
  ground.git(join(path, "vendor/library"), "push", "--quiet", "origin", "HEAD@{1}:refs/heads/kept");
  ground.git(join(path, "vendor/library"), "fetch", "--quiet", "origin");
  expect(await ground.remove(made)).toMatchObject({ isRemoved: true });
  expect(isThere(join(ground.main, "node_modules/left-pad"))).toBe(true);
});

it("uses the worktree of a dead session again, and says where a branch is checked out otherwise", async () => {
  const first = await ground.make({ branch: "fix" });
  ground.write(first.worktree.path, { "half-done.txt": "x\n" });
  const again = await ground.make({ branch: "fix", sessionId: "later" });
  expect(again).toMatchObject({
    isNew: false,
    changes: 1,
    worktree: { path: first.worktree.path, sessionId: "later" },
  });
  expect(contentOf(first.worktree.path, "half-done.txt")).toBe("x\n");

  await ground.session("living", first.worktree.path);
  await expect(ground.make({ branch: "fix" })).rejects.toThrow(/where session name-living works/);

  const elsewhere = join(ground.dir, "elsewhere");
  ground.git(ground.main, "worktree", "add", "--quiet", "-b", "taken", elsewhere);
  const before = ground.git(ground.main, "worktree", "list");
  await expect(ground.make({ branch: "taken" })).rejects.toThrow(`Branch taken is checked out in ${elsewhere} already`);
  await expect(ground.make({ branch: "main" })).rejects.toThrow(`checked out in ${ground.main} already`);
  expect(ground.git(ground.main, "worktree", "list")).toBe(before);
  rmSync(elsewhere, { recursive: true });
  await expect(ground.make({ branch: "taken" })).rejects.toThrow(`git -C ${ground.main} worktree prune`);
});

it("says what it begins from, how old that is, and whether the remote was asked", async () => {
  const other = join(ground.dir, "other");
  ground.git(ground.dir, "clone", "--quiet", ground.remote, other);
  for (let number = 1; number <= 3; number++) ground.commit(other, { "news.txt": `${number}\n` });
  ground.git(other, "push", "--quiet");
  const stale = await ground.make({ label: "stale" });
  expect(stale).toMatchObject({
    head: ground.git(ground.main, "rev-parse", "main"),
    worktree: { base: { ref: "main", source: "local" } },
    freshness: { ref: "origin/main", behind: 0 },
  });
  const fresh = await ground.make({ label: "fresh", fetch: true });
  expect(fresh).toMatchObject({
    head: ground.git(other, "rev-parse", "main"),
    worktree: { base: { ref: "origin/main", source: "fetched" } },
    freshness: { behind: 0 },
    notes: [],
  });
  const known = await ground.make({ label: "known" });
  expect(known).toMatchObject({ freshness: { ref: "origin/main", behind: 3 } });
  expect(known.fetchedAt).not.toBe(null);
  ground.git(ground.main, "remote", "set-url", "origin", join(ground.dir, "nowhere"));
  const alone = await ground.make({ label: "alone", fetch: true });
  expect(alone).toMatchObject({ worktree: { base: { ref: "main", source: "local" } } });
  expect(alone.notes).toEqual([
    expect.stringMatching(/^The remote was not fetched \(.*\); what this repository knew is used\.$/),
  ]);
});

it("says when hooks do not run, or are those of another checkout, and changes no configuration", async () => {
  const before = contentOf(ground.main, ".git/config");
  ground.git(ground.main, "config", "core.hooksPath", ".husky/_");
  mkdirSync(join(ground.main, ".husky/_"), { recursive: true });
  const relative = await ground.make({ label: "relative" });
  expect(relative.notes).toEqual([expect.stringMatching(/^core\.hooksPath is \.husky\/_.* no hook runs there\./)]);
  ground.git(ground.main, "config", "core.hooksPath", join(ground.main, ".husky/_"));
  const absolute = await ground.make({ label: "absolute" });
  expect(absolute.notes).toEqual([expect.stringContaining("run the hooks of the main checkout") as string]);
  ground.git(ground.main, "config", "--unset", "core.hooksPath");
  expect(contentOf(ground.main, ".git/config")).toBe(before);
  expect((await ground.make({ label: "none" })).notes).toEqual([]);
});

it("never deletes a lock: it says who holds it, and keeps the worktree", async () => {
  const made = await ground.make();
  const lock = join(ground.git(made.worktree.path, "rev-parse", "--absolute-git-dir"), "index.lock");
  writeFileSync(lock, "");
  expect(await ground.remove(made, { save: true })).toMatchObject({
    isRemoved: false,
    obstacles: [{ code: "lock-file", text: expect.stringContaining(lock) as string }],
  });
  const shell = spawn("sh", ["-c", 'exec 9>>"$0"; sleep 1000 & echo $!; wait', lock], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  children.push(shell);
  const pid = Number(await new Promise((resolve) => shell.stdout.once("data", (said) => resolve(String(said)))));
  expect(await ground.remove(made)).toMatchObject({
    obstacles: [
      { text: `${lock} (held by process ${pid} (sleep)) is there: a git command runs in it, or was killed.` },
    ],
  });
  process.kill(pid, "SIGKILL");
  await new Promise((resolve) => shell.once("close", resolve));
  expect(isThere(lock)).toBe(true);
  rmSync(lock);
  ground.git(ground.main, "worktree", "lock", "--reason", "on a stick", made.worktree.path);
  expect(await ground.remove(made)).toMatchObject({
    isRemoved: false,
    obstacles: [{ code: "locked", text: "It is locked with git worktree lock (on a stick)." }],
  });
  ground.git(ground.main, "worktree", "unlock", made.worktree.path);
  expect(await ground.remove(made)).toMatchObject({ isRemoved: true });
});

it("compares content, not ancestry: a squash merge makes it removable, its revert does not", async () => {
  const made = await ground.make({ branch: "squashed" });
  ground.commit(made.worktree.path, { "feature.txt": "one\n" });
  const tip = ground.commit(made.worktree.path, { "feature.txt": "one\ntwo\n" });
  expect(await ground.obstacles(made)).toEqual(["unpushed"]);
  ground.commit(ground.main, { "unrelated.txt": "x\n" });
  ground.git(ground.main, "merge", "--quiet", "--squash", "squashed");
  ground.git(ground.main, "commit", "--quiet", "-m", "squashed");
  expect(await ground.obstacles(made)).toEqual([]);
  ground.git(ground.main, "revert", "--no-edit", "HEAD");
  expect(await ground.obstacles(made)).toEqual(["unpushed"]);
  ground.git(ground.main, "reset", "--quiet", "--hard", "HEAD~1");
  expect(await ground.remove(made, { deleteBranch: true })).toMatchObject({
    isRemoved: true,
    branch: { isDeleted: true },
    saved: { ref: "refs/reeve/session1" },
  });
  expect(ground.git(ground.main, "branch", "--list", "squashed")).toBe("");
  // Two commits became one; the two are still there.
  expect(ground.git(ground.main, "merge-base", "--is-ancestor", tip, "refs/reeve/session1")).toBe("");
});

it("follows no link out of the tree when it removes, and goes into none that stands in its place", async () => {
  const outside = join(ground.dir, "outside");
  ground.write(outside, { "precious.txt": "precious\n" });
  symlinkSync(outside, join(ground.main, "committed-link"));
  ground.git(ground.main, "add", "committed-link");
  ground.git(ground.main, "commit", "--quiet", "-m", "a link");
  const made = await ground.make();
  expect(readlinkSync(join(made.worktree.path, "committed-link"))).toBe(outside);
  expect(await ground.remove(made)).toMatchObject({ isRemoved: true });
  expect(contentOf(outside, "precious.txt")).toBe("precious\n");

  const replaced = await ground.make({ label: "replaced" });
  const { path } = replaced.worktree;
  ground.git(ground.main, "worktree", "move", path, `${path}-moved`);
  symlinkSync(`${path}-moved`, path);
  expect(await ground.remove(replaced, { save: true })).toMatchObject({
    isRemoved: false,
    obstacles: [{ code: "strange" }],
  });
  expect(contentOf(`${path}-moved`, "readme.md")).toBe("shop\n");
  // A link where worktrees are put leads elsewhere: the worktree lies there, and is known by its real path.
  rmSync(path);
  const through = await ground.make({ label: "through" });
  expect(through.worktree.path).toBe(join(ground.dir, "shop.worktrees", "reeve+through"));
});

it("never takes the directory away from a session or a process that is in it", async () => {
  const made = await ground.make();
  const { path } = made.worktree;
  // Somebody's program, not one of this process.
  const shell = spawn("sh", ["-c", "sleep 1000 & echo $!; wait"], {
    cwd: join(path, "src"),
    stdio: ["pipe", "pipe", "ignore"],
  });
  children.push(shell);
  const pid = Number(await new Promise((resolve) => shell.stdout.once("data", (said) => resolve(String(said)))));
  expect(await ground.remove(made, { save: true })).toMatchObject({
    isRemoved: false,
    obstacles: [{ code: "process-inside", text: `Process ${pid} (sleep) is in it.` }],
  });
  process.kill(pid, "SIGKILL");
  await new Promise((resolve) => shell.once("close", resolve));
  await ground.session("living", join(path, "src"));
  expect(await ground.remove(made)).toMatchObject({
    isRemoved: false,
    obstacles: [{ code: "in-use", text: "Session name-living works in it." }],
  });
  expect(isThere(path)).toBe(true);
});

it("tries again where another git has a lock, and refuses a detached or bare repository in a sentence", async () => {
  // Another git packs the refs: its lock is there for a moment.
  const lock = join(ground.main, ".git/refs/heads/reeve/busy.lock");
  ground.write(ground.main, { ".git/refs/heads/reeve/busy.lock": "" });
  const child = spawn("sh", ["-c", `sleep 0.3; rm '${lock}'`], { stdio: "ignore" });
  children.push(child);
  expect(await ground.make({ label: "busy" })).toMatchObject({ isNew: true, worktree: { branch: "reeve/busy" } });

  const before = ground.git(ground.main, "worktree", "list");
  ground.git(ground.main, "checkout", "--quiet", "--detach");
  await expect(ground.make({ label: "detached" })).rejects.toThrow("No branch is checked out in");
  expect((await ground.make({ label: "based", base: "HEAD" })).isNew).toBe(true);
  await expect(ground.make({ cwd: ground.remote })).rejects.toThrow("bare repository");
  await expect(ground.make({ cwd: ground.dir })).rejects.toThrow("is not in a git repository");
  await expect(ground.make({ label: "x", base: "no-such" })).rejects.toThrow("There is no commit no-such");
  await expect(ground.make({ branch: "not..good" })).rejects.toThrow('"not..good" cannot be the name of a branch');
  const empty = join(ground.dir, "empty");
  ground.git(ground.dir, "init", "--quiet", empty);
  await expect(ground.make({ cwd: empty })).rejects.toThrow("There is no commit main");
  ground.write(join(ground.dir, "shop.worktrees", "full"), { "x.txt": "x" });
  await expect(ground.make({ branch: "full" })).rejects.toThrow("is there already and is no worktree of that branch");
  ground.git(ground.main, "checkout", "--quiet", "main");
  expect(ground.git(ground.main, "branch", "--list", "full", "reeve/x", "reeve/detached")).toBe("");
  expect(ground.git(ground.main, "worktree", "list").split("\n")).toHaveLength(before.split("\n").length + 1);
  expect(await ground.worktrees.records.list()).toHaveLength(2);
});
