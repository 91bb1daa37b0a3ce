/** Making, finding again, saving and forgetting worktrees, with real git. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Worktree, worktreeKind } from "../../fleet/worktree.ts";
import { OPERATOR } from "../../session/caller.ts";
import { contentOf, isThere, makeGround, type WorktreeGround } from "./worktree-fixture.ts";

let ground: WorktreeGround;
beforeEach(async () => {
  ground = await makeGround();
});
afterEach(() => ground.dispose());

/** As a daemon leaves it that was killed while git ran: the record, and what git had done by then. */
async function halfMade(name: string, ...flags: readonly string[]): Promise<Worktree> {
  const branch = `reeve/${name}`;
  const path = join(ground.dir, "shop.worktrees", `reeve+${name}`);
  const commit = ground.git(ground.main, "rev-parse", "HEAD");
  const worktree: Worktree = {
    id: `worktree-${name}`,
    revision: 1,
    path,
    repository: join(ground.main, ".git"),
    main: ground.main,
    branch,
    isBranchOurs: true,
    base: { ref: "main", commit, committedAt: 1, source: "local" },
    runtime: "tmux",
    paths: { PATH: process.env["PATH"] ?? "", HOME: ground.dir },
    state: "making",
    sessionId: "killed",
    request: `key-${name}`,
    createdAt: 1,
    saved: null,
  };
  await ground.store.commit({ changes: [worktreeKind.put(worktree)] });
  if (flags.length > 0) ground.git(ground.main, "worktree", "add", "--quiet", ...flags, "-b", branch, path);
  return worktree;
}

const KILLED = ["--no-checkout", "--lock", "--reason", "initializing"];

it("makes what git left half made again if it holds nothing, and keeps it if it does", async () => {
  const hollow = await halfMade("hollow", ...KILLED);
  const made = await ground.make({ label: "hollow", request: "key-hollow" });
  expect(made).toMatchObject({ isNew: true, worktree: { id: hollow.id, path: hollow.path, state: "ready" } });
  expect(contentOf(hollow.path, "readme.md")).toBe("shop\n");

  const full = await halfMade("full", ...KILLED);
  writeFileSync(join(full.path, "work.txt"), "work\n");
  await expect(ground.make({ label: "full", request: "key-full" })).rejects.toThrow(
    "was not finished by a git command",
  );
  expect(contentOf(full.path, "work.txt")).toBe("work\n");
  // One whose file was written by half holds something that nobody can tell from work.
  const torn = await halfMade("torn", ...KILLED);
  writeFileSync(join(torn.path, "readme.md"), "sh");
  await expect(ground.make({ label: "torn", request: "key-torn" })).rejects.toThrow(
    "was not finished by a git command",
  );
});

it("finds out at the start of a daemon what became of what the one before did", async () => {
  const never = await halfMade("never");
  const done = await halfMade("done", "--no-track");
  const locked = await halfMade("locked", ...KILLED);
  const made = await ground.make({ label: "leaving" });
  const removing = { ...made.worktree, state: "removing", revision: made.worktree.revision + 1 } as const;
  await ground.store.commit({ changes: [worktreeKind.put(removing)] });
  const gone = await ground.make({ label: "gone" });
  const removed = { ...gone.worktree, state: "removing", revision: gone.worktree.revision + 1 } as const;
  await ground.store.commit({ changes: [worktreeKind.put(removed)] });
  ground.git(ground.main, "worktree", "remove", gone.worktree.path);
  await ground.worktrees.recover();
  const left = (await ground.worktrees.records.list()).map(({ id, state }) => ({ id, state }));
  expect(left).toEqual([
    { id: done.id, state: "ready" },
    { id: locked.id, state: "making" },
    { id: removing.id, state: "ready" },
  ]);
  expect(left.map(({ id }) => id)).not.toContain(never.id);
  const events = await ground.store.log.read({ after: 0, limit: 100, types: ["worktree-removed"] });
  expect(events.map(({ body }) => body)).toMatchObject([{ path: gone.worktree.path }]);
});

it("saves everything as one commit and leaves HEAD, index and files as they are, without hooks", async () => {
  const made = await ground.make({ branch: "work" });
  const { path } = made.worktree;
  mkdirSync(join(ground.main, ".git/hooks"), { recursive: true });
  for (const hook of ["pre-commit", "post-commit", "reference-transaction"]) {
    const file = join(ground.main, ".git/hooks", hook);
    writeFileSync(file, `#!/bin/sh\ntouch '${ground.dir}/hook-ran'\n`);
    chmodSync(file, 0o755);
  }
  ground.write(path, { "readme.md": "staged\n" });
  ground.git(path, "add", "readme.md");
  ground.write(path, {
    "readme.md": "changed since\n",
    "new file.txt": "new\n",
    ".env": "SECRET=1\n",
    "src/app.txt": "app 2\n",
  });
  const before = () => [
    ground.git(path, "status", "--porcelain=v2", "--branch", "--ignored"),
    ground.git(path, "ls-files", "--stage"),
    ground.git(path, "reflog"),
    contentOf(path, "readme.md"),
  ];
  const found = before();
  const saved = await ground.worktrees.save(made.worktree.id, { caller: OPERATOR });
  expect(before()).toEqual(found);
  expect(isThere(join(ground.dir, "hook-ran"))).toBe(false);
  const at = (what: string) => ground.git(ground.main, "show", `${saved.ref}${what}`);
  expect([at(":readme.md"), at(":new file.txt"), at(":.env"), at(":src/app.txt"), at("^2:readme.md")]).toEqual([
    "changed since",
    "new",
    "SECRET=1",
    "app 2",
    "staged",
  ]);
  expect(ground.git(ground.main, "rev-parse", `${saved.ref}^1`)).toBe(ground.git(path, "rev-parse", "HEAD"));
  // The same once more is the same commit; what comes later keeps what was saved before.
  expect((await ground.worktrees.save(made.worktree.id, { caller: OPERATOR })).commit).toBe(saved.commit);
  ground.write(path, { "later.txt": "later\n" });
  const later = await ground.worktrees.save(made.worktree.id, { caller: OPERATOR });
  expect(ground.git(ground.main, "merge-base", "--is-ancestor", saved.commit, later.commit)).toBe("");
  expect(await ground.remove(made, { save: true })).toMatchObject({ isRemoved: true, saved: { commit: later.commit } });
  // Its branch holds nothing that is not on main, but the work was never merged: it stays.
  expect(ground.git(ground.main, "branch", "--list", "work")).toContain("work");
});

it("deletes what tools make and git ignores, and nothing else that is ignored", async () => {
  const made = await ground.make();
  const { path } = made.worktree;
  ground.write(path, { "node_modules/pad/index.js": "x", ".env": "OWN=1\n", "local/data.db": "rows" });
  expect(await ground.remove(made)).toMatchObject({
    isRemoved: false,
    obstacles: [{ text: "Ignored files that the main checkout does not have: .env, local/data.db." }],
  });
  ground.write(ground.main, { ".env": "OWN=1\n", "local/data.db": "rows" });
  expect(await ground.remove(made, { deleteBranch: true })).toMatchObject({
    isRemoved: true,
    dropped: ["node_modules/"],
    branch: { isDeleted: true },
    saved: null,
  });
  expect(ground.git(ground.main, "branch", "--list", "reeve/*")).toBe("");
});

it("gives a worktree that is being started in to nobody else, and takes up one that somebody removed", async () => {
  const first = await ground.make({ branch: "shared" });
  const request = { runtime: "tmux", cwd: ground.main, branch: "shared", label: "x", base: null, fetch: null } as const;
  const paths = { PATH: process.env["PATH"] ?? "", HOME: ground.dir };
  const starting = { ...request, environment: paths, sessionId: "starting", request: null, caller: OPERATOR };
  const made = await ground.worktrees.make(starting);
  await expect(ground.make({ branch: "shared" })).rejects.toThrow("where a session that is being started works");
  expect(await ground.remove(first)).toMatchObject({ isRemoved: false, obstacles: [{ code: "in-use" }] });
  ground.worktrees.release(made);
  ground.git(ground.main, "worktree", "remove", first.worktree.path);
  const again = await ground.make({ branch: "shared" });
  expect(again).toMatchObject({ isNew: true, worktree: { id: first.worktree.id, isBranchOurs: true } });
  expect(await ground.worktrees.records.list()).toHaveLength(1);
});

it("gives two that start at once two worktrees, and puts none into the tree of the repository", async () => {
  const both = await Promise.all([ground.make(), ground.make()]);
  expect(both.map(({ worktree }) => worktree.branch).toSorted()).toEqual(["reeve/builder", "reeve/builder-2"]);
  await ground.dispose();
  ground = await makeGround({ worktreesDir: "trees" });
  await expect(ground.make()).rejects.toThrow("is inside the repository, and git does not ignore it");
  ground.commit(ground.main, { ".gitignore": "trees/\n" });
  const inside = await ground.make();
  expect(inside.worktree.path).toBe(join(ground.main, "trees", "reeve+builder"));
  expect(ground.git(ground.main, "status", "--porcelain")).toBe("");
  // From inside a worktree another one lies beside it, not in it.
  const beside = await ground.make({ cwd: inside.worktree.path, label: "beside" });
  expect(beside.worktree.path).toBe(join(ground.main, "trees", "reeve+beside"));
});
