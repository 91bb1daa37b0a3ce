/** Which branch a checkout is on. */
import { execFile } from "node:child_process";

/** Null when it is on none: no repository, no git, or a detached head. */
export function gitBranch(directory: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(
      "git",
      ["-C", directory, "symbolic-ref", "--quiet", "--short", "HEAD"],
      { timeout: 10_000 },
      (error, stdout) => {
        const branch = stdout.trim();
        resolve(error !== null || branch === "" ? null : branch);
      },
    );
  });
}
