/** Worktrees through the CLI and HTTP: started in one, listed, saved, removed, and refused in one sentence. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { gitIn, makeRepository } from "../support/repository.ts";
import { clientOf, startSleeper } from "../support/session-caller.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
let repository: string;
beforeAll(() => {
  home = createTestHome();
  repository = makeRepository(home.dir);
});
afterAll(() => home.dispose());

const placeOf = (name: string): string => join(`${repository}.worktrees`, name);

async function sleeper(name: string, ...options: readonly string[]) {
  const args = [
    "start",
    "command",
    "--worktree",
    "--name",
    name,
    "--cwd",
    repository,
    ...options,
    "--",
    "sleep",
    "1000",
  ];
  return await home.json<{ session_id: string; made_worktree: Record<string, unknown> | null }>(...args);
}

const end = (name: string, ...options: readonly string[]) =>
  home.json<{ note: string | null }>("end", name, "--when", "now", "--grace", "0", ...options);

test("a session works in its own worktree, and the caller's GIT_DIR reaches neither git nor the session", async () => {
  mkdirSync(join(repository, "src"));
  writeFileSync(join(repository, "src", "app.txt"), "app\n");
  gitIn(repository, "add", ".");
  gitIn(repository, "commit", "--quiet", "-m", "src");
  const script = "env | grep ^GIT_ > seen; git rev-parse --show-toplevel --abbrev-ref HEAD > where; sleep 1000";
  const started = await home.run(
    ["start", "command", "--worktree", "--name", "own", "--cwd", join(repository, "src"), "--", "sh", "-c", script],
    {
      environment: { GIT_DIR: join(home.dir, "elsewhere"), GIT_INDEX_FILE: join(home.dir, "index"), GIT_PAGER: "cat" },
    },
  );
  const path = placeOf("reeve+own");
  expect(started.stdout).toContain(`It works in ${path}, on branch reeve/own, from main (`);
  expect(started.stdout).toContain("as this repository knows it).");
  await eventually(
    "it has looked",
    () => existsSync(join(path, "src", "where")) && readFileSync(join(path, "src", "where"), "utf8") !== "",
  );
  expect(readFileSync(join(path, "src", "where"), "utf8")).toBe(`${path}\nreeve/own\n`);
  expect(readFileSync(join(path, "src", "seen"), "utf8")).toBe("GIT_PAGER=cat\n");
  expect(await home.session("own")).toMatchObject({
    cwd: join(path, "src"),
    worktree: path,
    branch: { declared: "reeve/own" },
  });

  const { worktrees } = await home.json<{ worktrees: unknown[] }>("worktree", "list");
  expect(worktrees).toEqual([
    expect.objectContaining({ path, branch: "reeve/own", session: "own", in_use: true, changes: 2, removable: false }),
  ]);
  const kept = await home.run(["worktree", "remove", "own", "--save"]);
  expect(kept).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^Kept .*\n {2}Session own works in it\.\n/) as string,
  });
  const { note } = await end("own", "--remove-worktree");
  expect(note).toBe(
    `Its worktree ${path} is kept. Untracked: src/seen, src/where. To save that and remove it: reeve worktree remove own --save`,
  );
  const removed = await home.run(["worktree", "remove", path, "--save", "--delete-branch"]);
  expect(removed.stdout).toMatch(
    /^Removed .*\nIts work is saved: git show refs\/reeve\/\w+\nIts branch reeve\/own is deleted\.\n$/,
  );
  const [ref = ""] = /refs\/reeve\/\w+/.exec(removed.stdout) ?? [];
  expect(gitIn(repository, "show", `${ref}:src/where`)).toBe(`${path}\nreeve/own`);
  expect(existsSync(path)).toBe(false);
  expect((await home.run(["worktree"])).stderr).toContain("Reeve has made no worktrees.");
});

test("a clean worktree goes with its session, and the next of that name gets a new one", async () => {
  const { made_worktree: made } = await sleeper("clean");
  expect(made).toMatchObject({
    is_new: true,
    branch: "reeve/clean",
    base: { ref: "main", source: "local" },
    notes: [],
  });
  expect((await end("clean", "--remove-worktree")).note).toBe(`Its worktree ${placeOf("reeve+clean")} was removed.`);
  expect((await end("clean", "--remove-worktree")).note).toBe(
    `Its worktree ${placeOf("reeve+clean")} was removed before.`,
  );
  // Its branch is still there: nobody finds somebody else's work in a branch that nobody named.
  const again = await sleeper("clean");
  expect(again.made_worktree).toMatchObject({ branch: "reeve/clean-2" });
  await end("clean");
  const reused = await sleeper("other", "--branch", "reeve/clean-2");
  expect(reused.made_worktree).toMatchObject({ is_new: false, branch: "reeve/clean-2", changes: 0 });
  await end("other", "--remove-worktree");
});

test("what is refused is refused in one sentence, and changes nothing", async () => {
  const before = () => ({
    branches: gitIn(repository, "for-each-ref", "--format=%(refname) %(objectname)"),
    worktrees: gitIn(repository, "worktree", "list"),
    config: readFileSync(join(repository, ".git", "config"), "utf8"),
    sessions: existsSync(placeOf("")),
  });
  const found = before();
  const sessions = (await home.list()).length;
  const at = ["--name", "refused", "--cwd", repository];
  for (const [args, code, sentence] of [
    [["--worktree", "--branch", "main", ...at], "branch-checked-out", /Branch main is checked out in .* already/],
    [["--worktree", "--base", "nowhere", ...at], "unknown-base", /There is no commit nowhere/],
    [["--worktree", "--branch=-x", ...at], "bad-branch", /cannot be the name of a branch/],
    [["--worktree", "--name", "refused", "--cwd", home.dir], "no-repository", /is not in a git repository/],
    [["--worktree", "--name", "refused", "--cwd", join(home.dir, "origin.git")], "bare-repository", /bare repository/],
    [["--base", "main", ...at], "bad-request", /--base belongs to --worktree/],
  ] as const) {
    const json = await home.run(["start", "command", ...args, "--json", "--", "true"]);
    expect({ args, status: json.status, answer: JSON.parse(json.stdout) as unknown }).toMatchObject({
      args,
      status: expect.any(Number) as number,
      answer: { error: { code, message: expect.stringMatching(sentence) as string } },
    });
    expect(json.status).not.toBe(0);
  }
  // It was made before the program was looked for, and is gone again.
  const missing = await home.run(["start", "command", "--worktree", ...at, "--json", "--", "no-such-program"]);
  expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: "command-not-found" } });
  expect(before()).toEqual(found);
  expect(await home.list()).toHaveLength(sessions);
  expect(await home.json("worktree")).toEqual({ worktrees: [] });
  for (const action of ["remove", "save"])
    expect((await home.run(["worktree", action, "nobody"])).stderr).toBe(
      'There is no worktree of Reeve\'s called "nobody"; see reeve worktree list.\n',
    );
});

test("a session whose worktree was deleted under it says so and does not start again and again", async () => {
  const { session_id: id } = await sleeper("bereft", "--restart", "always");
  const path = placeOf("reeve+bereft");
  rmSync(path, { recursive: true });
  const { pid } = home.marked(id).at(-1) ?? {};
  if (pid !== undefined) process.kill(pid, "SIGKILL");
  await eventually("it is seen", async () => (await home.session("bereft")).reason.includes(path));
  const seen = await home.session("bereft");
  expect(seen).toMatchObject({
    state: "error",
    reason: expect.stringContaining(`Its directory ${path} does not exist; create it, then restart`) as string,
  });
  expect(
    (await home.json<{ worktrees: { kept_because: { text: string }[] }[] }>("worktree")).worktrees[0]?.kept_because,
  ).toEqual([
    expect.objectContaining({ code: "strange", text: expect.stringContaining("worktree prune") as string }),
    expect.objectContaining({ code: "in-use" }),
  ]);
  await end("bereft");
  gitIn(repository, "worktree", "prune");
  expect(await home.json("worktree", "remove", "bereft")).toMatchObject({ removed: true });
  const incarnations = (await home.events()).filter(
    (event) => event.session_id === id && event.type === "session-running",
  );
  expect(incarnations.length).toBeLessThan(3);
});

test("a session gives its worker a worktree, has it removed at the end, and reaches no other", async () => {
  const boss = await clientOf(home, await startSleeper(home, "boss", "--cwd", repository));
  await sleeper("stranger");
  const request = { agent: "command", args: ["sleep", "600"], cwd: repository, name: "worker", worktree: true };
  expect(await boss.startSession(request)).toMatchObject({
    made_worktree: { path: placeOf("reeve+worker"), is_new: true },
  });
  expect((await boss.listWorktrees()).worktrees.map(({ session }) => session)).toEqual(["worker"]);
  await expect(boss.removeWorktree({ worktree: "stranger" })).rejects.toMatchObject({ code: "unknown-worktree" });
  await expect(boss.saveWorktree({ worktree: placeOf("reeve+stranger") })).rejects.toMatchObject({
    code: "unknown-worktree",
  });
  const ended = await boss.endSession({ session: "worker", when: "now", grace_seconds: 0, worktree: "remove" });
  expect(ended).toMatchObject({ done: true, note: `Its worktree ${placeOf("reeve+worker")} was removed.` });
  expect(existsSync(placeOf("reeve+worker"))).toBe(false);
  await end("stranger", "--remove-worktree");
});
