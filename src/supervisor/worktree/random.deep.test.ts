/**
 * Random states of a worktree: whatever `remove` decides, everything that was written is afterwards still
 * there: on disk, or reachable from a ref of the repository. The seed is printed; REEVE_TEST_SEED repeats a run, and
 * REEVE_TEST_ROUNDS makes it longer.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { MadeWorktree } from "./making.ts";
import { makeGround, type WorktreeGround } from "./worktree-fixture.ts";

const SEED = Number(process.env["REEVE_TEST_SEED"] ?? Date.now() % 1_000_000);
const ROUNDS = Number(process.env["REEVE_TEST_ROUNDS"] ?? 10);

let ground: WorktreeGround;
/** Texts of which each was work of somebody. */
let written: Set<string>;
let number = 0;
beforeAll(async () => {
  ground = await makeGround();
  const library = join(ground.dir, "library");
  ground.git(ground.dir, "init", "--quiet", library);
  ground.commit(library, { "lib.txt": "library\n" });
  ground.git(ground.main, "submodule", "--quiet", "add", library, "sub");
  ground.git(ground.main, "commit", "--quiet", "-m", "submodule");
  ground.git(ground.main, "push", "--quiet");
});
afterAll(() => ground.dispose());

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A text that nothing else has. */
function work(kind: string): string {
  const text = `work ${++number} of seed ${SEED}: ${kind}`;
  written.add(text);
  return text;
}

type Step = (made: MadeWorktree) => void;

const STEPS: Readonly<Record<string, Step>> = {
  "changed file": ({ worktree: { path } }) => ground.write(path, { "readme.md": work("changed") }),
  "staged file": ({ worktree: { path } }) => {
    ground.write(path, { "staged.txt": work("staged") });
    ground.git(path, "add", "staged.txt");
  },
  "staged, then changed again": ({ worktree: { path } }) => {
    ground.write(path, { "twice.txt": work("staged first") });
    ground.git(path, "add", "twice.txt");
    ground.write(path, { "twice.txt": work("changed since") });
  },
  "untracked file": ({ worktree: { path } }) => ground.write(path, { [`new ${number}/ä\n.txt`]: work("untracked") }),
  "ignored file": ({ worktree: { path } }) => ground.write(path, { ".env": work("ignored") }),
  "ignored directory": ({ worktree: { path } }) => ground.write(path, { "local/data.txt": work("ignored directory") }),
  "unpushed commit": ({ worktree: { path } }) => void ground.commit(path, { [`c${number}.txt`]: work("commit") }),
  "pushed commit": ({ worktree: { path } }) => {
    ground.commit(path, { [`p${number}.txt`]: work("pushed") });
    ground.git(path, "push", "--quiet", "--force", "origin", "HEAD:refs/heads/pushed");
  },
  "squash-merged commit": ({ worktree: { path } }) => {
    const commit = ground.commit(path, { [`s${number}.txt`]: work("squashed") });
    ground.git(ground.main, "cherry-pick", "--allow-empty", "-X", "theirs", commit);
  },
  "detached commit": ({ worktree: { path } }) => {
    ground.git(path, "checkout", "--quiet", "--detach");
    ground.commit(path, { [`d${number}.txt`]: work("detached") });
  },
  "detached commit that was left": ({ worktree: { path } }) => {
    const head = ground.git(path, "rev-parse", "HEAD");
    ground.git(path, "checkout", "--quiet", "--detach");
    ground.commit(path, { [`l${number}.txt`]: work("left") });
    ground.git(path, "checkout", "--quiet", "--detach", head);
  },
  "amended commit": ({ worktree: { path } }) => {
    ground.commit(path, { "a.txt": work("before the amend") });
    ground.write(path, { "a.txt": work("amended") });
    ground.git(path, "commit", "--quiet", "--all", "--amend", "-m", "amended");
  },
  stash: ({ worktree: { path } }) => {
    ground.write(path, { "src/app.txt": work("stashed") });
    ground.git(path, "stash", "push", "--quiet", "--", "src/app.txt");
  },
  "merge in conflict": ({ worktree: { path } }) => {
    ground.commit(path, { "src/app.txt": work("ours") });
    const ours = ground.git(path, "rev-parse", "HEAD");
    ground.git(path, "checkout", "--quiet", "--detach", "HEAD~1");
    ground.commit(path, { "src/app.txt": work("theirs") });
    expect(() => ground.git(path, "merge", "--quiet", ours)).toThrow();
  },
  "rebase under way": ({ worktree: { path } }) => {
    ground.commit(path, { [`r${number}.txt`]: work("rebased") });
    expect(() => ground.git(path, "rebase", "--exec", "false", "HEAD~1")).toThrow();
  },
  "hidden change": ({ worktree: { path } }) => {
    ground.git(path, "update-index", "--assume-unchanged", "readme.md");
    ground.write(path, { "readme.md": work("hidden") });
  },
  "submodule with a file": ({ worktree: { path } }) => ground.write(join(path, "sub"), { "own.txt": work("in sub") }),
  "submodule with a commit": ({ worktree: { path } }) =>
    void ground.commit(join(path, "sub"), { [`s${number}.txt`]: work("commit in sub") }),
  "nested repository": ({ worktree: { path } }) => {
    ground.git(path, "init", "--quiet", "nested");
    ground.commit(join(path, "nested"), { "n.txt": work("nested") });
  },
  "nested repository in what tools make": ({ worktree: { path } }) => {
    ground.git(path, "init", "--quiet", "node_modules/nested");
    ground.write(path, { "node_modules/nested/n.txt": work("nested in node_modules") });
  },
  "nested worktree": ({ worktree: { path } }) => {
    ground.git(path, "worktree", "add", "--quiet", "--detach", "inner");
    ground.write(join(path, "inner"), { "i.txt": work("in an inner worktree") });
  },
  "link out of the tree": ({ worktree: { path } }) => {
    const outside = join(ground.dir, `outside-${++number}`);
    mkdirSync(outside);
    ground.write(outside, { "o.txt": work("outside") });
    symlinkSync(outside, join(path, `link-${number}`));
    ground.git(path, "add", `link-${number}`);
  },
  "what tools make": ({ worktree: { path } }) => ground.write(path, { "node_modules/pad/index.js": "made by npm" }),
};

/** Everything that git can still reach, in the repository and in those inside of it, as text. */
function reachable(directory: string): string {
  const list = ground.git(directory, "rev-list", "--objects", "--all", "--reflog", "--indexed-objects");
  return execFileSync("git", ["-C", directory, "cat-file", "--batch"], {
    input: list
      .split("\n")
      .map((line) => `${line.split(" ")[0]}\n`)
      .join(""),
    maxBuffer: 1 << 28,
    env: { PATH: process.env["PATH"] ?? "", HOME: ground.dir },
  }).toString("latin1");
}

function onDisk(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !`${entry.parentPath}/`.includes("/objects/"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
}

function lost(made: MadeWorktree): readonly string[] {
  const { path } = made.worktree;
  const inner = ["sub", "nested"].map((name) => join(path, name)).filter((name) => existsSync(join(name, ".git")));
  const kept = [reachable(ground.main), ...inner.map(reachable), ...onDisk(path), ...onDisk(ground.dir)].join("\n");
  return [...written].filter((text) => !kept.includes(text));
}

it(`destroys no work in ${ROUNDS} random states`, async () => {
  const random = randomOf(SEED);
  for (let round = 0; round <= ROUNDS; round++) {
    written = new Set();
    const made = await ground.make({ branch: `round-${round}`, sessionId: `round${round}` });
    const names = Object.keys(STEPS);
    // Each kind comes up in turn, so that few rounds cover all of them; others are added to it.
    const others = Array.from({ length: Math.floor(random() * 3) }, () => Math.floor(random() * names.length));
    const drawn = [SEED + round, ...others].map((at) => names[at % names.length] ?? "");
    // The first holds no work: a test that never removes anything would prove nothing.
    const chosen = round === 0 ? ["what tools make"] : drawn;
    const done: string[] = [];
    for (const name of chosen) {
      try {
        STEPS[name]?.(made);
        done.push(name);
      } catch {
        // Not possible after what was done before, such as a commit in the middle of a merge.
        done.push(`${name} (not possible)`);
      }
    }
    // A step may have overwritten what another wrote.
    for (const text of lost(made)) written.delete(text);
    const request = { save: random() < 0.6, deleteBranch: random() < 0.5 };
    const told = { seed: SEED, round, done, request };
    const removal = await ground
      .remove(made, request)
      .catch((error: unknown) => ({ isRemoved: false, why: String(error) }));
    expect({ ...told, removal, lost: lost(made) }).toMatchObject({ ...told, lost: [] });
    expect({ ...told, isThere: existsSync(made.worktree.path) }).toEqual({ ...told, isThere: !removal.isRemoved });
    if (round === 0) expect({ ...told, removal }).toMatchObject({ ...told, removal: { isRemoved: true } });
  }
}, 300_000);
