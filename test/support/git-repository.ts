/** A real git repository for one test, with two branches that can be rebased onto one another, with a conflict or without. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface GitRepository {
  /** The top directory of its first checkout, on branch `main`. */
  readonly root: string;
  /** A path beside it that is free. */
  beside(name: string): string;
  /** Runs git in the first checkout; throws where it fails. */
  git(...args: readonly string[]): string;
  /** Whatever status it ends with. */
  tryGit(...args: readonly string[]): void;
  write(name: string, content: string): void;
  commit(name: string, content: string): void;
  dispose(): void;
}

/** It asks nobody, and knows nothing of this machine's settings. */
const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Somebody",
  GIT_AUTHOR_EMAIL: "somebody@example.invalid",
  GIT_COMMITTER_NAME: "Somebody",
  GIT_COMMITTER_EMAIL: "somebody@example.invalid",
  GIT_EDITOR: "true",
};

/** Branches `main` and `feature`: each has a commit of its own, and both change `same`. */
export function createGitRepository(): GitRepository {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "reeve-git-")));
  const root = join(directory, "repository");
  const run = (args: readonly string[]): string =>
    execFileSync("git", args, { env: ENVIRONMENT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  run(["init", "--quiet", "--initial-branch=main", root]);
  const repository: GitRepository = {
    root,
    beside: (name) => join(directory, name),
    git: (...args) => run(["-C", root, ...args]),
    tryGit(...args) {
      try {
        run(["-C", root, ...args]);
      } catch {
        // A rebase that stops at a conflict ends with 1.
      }
    },
    write: (name, content) => writeFileSync(join(root, name), content),
    commit(name, content) {
      repository.write(name, content);
      repository.git("add", name);
      repository.git("commit", "--quiet", "--message", `Change ${name}`);
    },
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  };
  repository.commit("same", "at first\n");
  repository.git("switch", "--quiet", "--create", "feature");
  repository.commit("same", "of feature\n");
  repository.git("switch", "--quiet", "main");
  return repository;
}
