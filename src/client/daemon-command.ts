/** The command that runs the daemon of an installation: the built program, or the source in a fresh checkout. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ReeveError } from "../platform/reeve-error.ts";

/**
 * Its stderr is for faults, not for the news that node:sqlite is experimental.
 *
 * A small young generation: it would otherwise grow by tens of megabytes while
 * the daemon reads a long transcript (docs/spec/benchmarks.md, 10 and 14), and
 * it cannot be told at run time.
 *
 * V8 looks for garbage twice after each burst. The daemon looks once, when it is
 * at rest (platform/collect-at-rest.ts), which is enough.
 */
const NODE_FLAGS = ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=4", "--no-memory-reducer"];

export function daemonCommand(root: string): readonly string[] {
  const programs = [join(root, "dist", "daemon.cjs"), join(root, "src", "daemon-main.ts")];
  const program = programs.find((path) => existsSync(path));
  if (program !== undefined) return [process.execPath, ...NODE_FLAGS, program];
  throw new ReeveError({
    code: "not-built",
    kind: "config",
    message: `There is no daemon in ${root}; in a checkout run npm run build, otherwise reinstall Reeve.`,
  });
}
