/** For tests only: a repository with a remote, made by real git in a temporary directory, and worktrees over a real store. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemClock } from "../../platform/clock.ts";
import { inertRuntime } from "../../runtime/inert-runtime.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { OPERATOR } from "../../session/caller.ts";
import { putSession } from "../../store/change.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, makeSession } from "../../store/store-fixture.ts";
import { defaultGitSettings, type GitSettings } from "../launch/git-settings.ts";
import type { MadeWorktree, MakingRequest } from "./making.ts";
import type { Removal, RemovalRequest } from "./removal.ts";
import { createWorktrees, type Worktrees } from "./worktrees.ts";

export interface WorktreeGround {
  readonly dir: string;
  /** The main checkout, on `main`, which its remote has. */
  readonly main: string;
  readonly remote: string;
  readonly store: Store;
  readonly worktrees: Worktrees;
  /** What git prints, without its last line's end; fails the test where git fails. */
  git(cwd: string, ...args: readonly string[]): string;
  write(directory: string, files: Readonly<Record<string, string>>): void;
  /** Writes, adds and commits. */
  commit(directory: string, files: Readonly<Record<string, string>>, message?: string): string;
  make(request?: Partial<MakingRequest>): Promise<MadeWorktree>;
  remove(made: MadeWorktree, request?: Partial<RemovalRequest>): Promise<Removal>;
  /** Why it would be kept: the codes. */
  obstacles(made: MadeWorktree): Promise<readonly string[]>;
  /** A session that works in that directory and has not ended. */
  session(id: string, cwd: string): Promise<void>;
  dispose(): Promise<void>;
}

export async function makeGround(settings: Partial<GitSettings> = {}): Promise<WorktreeGround> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "reeve-worktree-")));
  const home = makeHome(join(dir, "home"));
  const store = await home.open();
  const environment = { PATH: process.env["PATH"] ?? "", HOME: dir };
  const runtime = { ...inertRuntime("tmux", "There is none."), files: localFiles };
  const worktrees = createWorktrees({
    store,
    clock: systemClock,
    log: home.log,
    runtime: () => runtime,
    settings: { ...defaultGitSettings, ...settings },
  });
  writeFileSync(
    join(dir, ".gitconfig"),
    '[user]\n  name = Somebody\n  email = somebody@example.com\n[init]\n  defaultBranch = main\n[protocol "file"]\n  allow = always\n',
  );

  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync("git", ["-C", cwd, ...args], {
      env: { ...environment, GIT_CONFIG_NOSYSTEM: "1", GIT_EDITOR: "true" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).replace(/\n$/, "");
  const write = (directory: string, files: Readonly<Record<string, string>>): void => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), content);
    }
  };
  const commit = (directory: string, files: Readonly<Record<string, string>>, message = "work"): string => {
    write(directory, files);
    git(directory, "add", "--", ...Object.keys(files));
    git(directory, "commit", "--quiet", "-m", message);
    return git(directory, "rev-parse", "HEAD");
  };

  const remote = join(dir, "origin.git");
  const main = join(dir, "shop");
  git(dir, "init", "--quiet", "--bare", remote);
  git(dir, "clone", "--quiet", remote, main);
  commit(
    main,
    { "readme.md": "shop\n", "src/app.txt": "app\n", ".gitignore": ".env\nnode_modules\nlocal/\n" },
    "first",
  );
  git(main, "push", "--quiet", "-u", "origin", "main");
  git(main, "remote", "set-head", "origin", "main");

  let count = 0;
  return {
    dir,
    main,
    remote,
    store,
    worktrees,
    git,
    write,
    commit,
    async make(request = {}) {
      const made = await worktrees.make({
        runtime: "tmux",
        cwd: main,
        branch: null,
        label: "builder",
        base: null,
        fetch: null,
        environment,
        sessionId: `session${++count}`,
        request: null,
        caller: OPERATOR,
        ...request,
      });
      worktrees.release(made);
      return made;
    },
    remove: ({ worktree }, request = {}) =>
      worktrees.remove(worktree.id, { save: false, deleteBranch: false, ...request }, { caller: OPERATOR }),
    obstacles: async ({ worktree }) => (await worktrees.report(worktree)).obstacles.map(({ code }) => code),
    async session(id, cwd) {
      const session = makeSession(home, id, { state: "running" });
      const { identity } = session;
      const working = { ...session, identity: { ...identity, launch: { ...identity.launch, cwd } } };
      await store.commit({ changes: [putSession(working)] });
    },
    async dispose() {
      await worktrees.idle();
      await home.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export function isThere(path: string): boolean {
  return existsSync(path);
}

export function contentOf(...parts: readonly string[]): string {
  return readFileSync(join(...parts), "utf8");
}
