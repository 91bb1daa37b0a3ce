/** kill -9 of the daemon while it makes and removes worktrees: each is made once, and nothing is lost. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gitIn, makeRepository } from "../support/repository.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let repository: string;
let count = 0;
beforeAll(async () => {
  home = createTestHome();
  repository = makeRepository(home.dir);
});
afterAll(() => home.dispose());

interface Worktree {
  readonly path: string;
  readonly branch: string;
  readonly session: string | null;
  readonly state: string;
}

const worktrees = async () => (await home.json<{ worktrees: Worktree[] }>("worktree")).worktrees;

const start = (name: string) =>
  home.json("start", "command", "--worktree", "--name", name, "--cwd", repository, "--", "sleep", "1000");

test.each(["worktree.before-add", "worktree.after-add", "worktree.after-commit"])(
  "killed at %s: the repeated request goes on with the same worktree",
  async (point) => {
    const name = `made-${++count}`;
    await crashingAt(home, point, async () => void (await start(name)));
    const path = join(`${repository}.worktrees`, `reeve+${name}`);
    expect((await worktrees()).filter(({ branch }) => branch.includes(name))).toMatchObject([
      { path, branch: `reeve/${name}`, session: name, state: "ready" },
    ]);
    expect(
      gitIn(repository, "worktree", "list")
        .split("\n")
        .filter((line) => line.includes(name)),
    ).toHaveLength(1);
    expect(await home.session(name)).toMatchObject({ state: "running", cwd: path, worktree: path });
    await home.json("end", name, "--when", "now", "--grace", "0");
    await expectEventLogComplete(home);
  },
);

test.each(["worktree.before-remove", "worktree.after-remove"])(
  "killed at %s: removed once, and saved before",
  async (point) => {
    const name = `removed-${++count}`;
    const { session_id: id } = await start(name);
    const path = join(`${repository}.worktrees`, `reeve+${name}`);
    mkdirSync(join(path, "notes"));
    writeFileSync(join(path, "notes", "todo.txt"), `todo ${name}\n`);
    await home.json("end", name, "--when", "now", "--grace", "0");
    await crashingAt(home, point, async () => {
      expect(await home.json("worktree", "remove", name, "--save")).toMatchObject({ removed: true });
    });
    expect(existsSync(path)).toBe(false);
    expect(gitIn(repository, "show", `refs/reeve/${String(id)}:notes/todo.txt`)).toBe(`todo ${name}`);
    expect((await worktrees()).filter(({ session }) => session === name)).toEqual([]);
    const removals = (await home.events()).filter(
      ({ type, data }) => type === "worktree-removed" && data["path"] === path,
    );
    expect(removals).toHaveLength(1);
  },
);
