/** A git repository of its own for a test, with configuration that is not the user's. */
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** In this directory, which is also git's home: `shop`, on branch main, with one commit and a remote that has it. */
export function makeRepository(directory: string): string {
  writeFileSync(
    join(directory, ".gitconfig"),
    "[user]\n  name = Somebody\n  email = somebody@example.com\n[init]\n  defaultBranch = main\n",
  );
  const remote = join(directory, "origin.git");
  const main = join(realpathSync(directory), "shop");
  mkdirSync(remote);
  gitIn(remote, "init", "--quiet", "--bare");
  gitIn(remote, "clone", "--quiet", remote, main);
  writeFileSync(join(main, "readme.md"), "shop\n");
  writeFileSync(join(main, ".gitignore"), ".env\nnode_modules\n");
  gitIn(main, "add", ".");
  gitIn(main, "commit", "--quiet", "-m", "first");
  gitIn(main, "push", "--quiet", "-u", "origin", "main");
  return main;
}

/** What git prints, without its last line's end. The configuration is that beside the repository. */
export function gitIn(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", cwd, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: dirname(cwd), GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).replace(/\n$/, "");
}
