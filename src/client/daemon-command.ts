/** What runs the daemon of an installation: what was built, or in a fresh checkout the source itself. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ReeveError } from "../platform/reeve-error.ts";

export function daemonCommand(root: string): readonly string[] {
  const programs = [join(root, "dist", "daemon.js"), join(root, "src", "daemon-main.ts")];
  const program = programs.find((path) => existsSync(path));
  if (program !== undefined) return [process.execPath, program];
  throw new ReeveError({
    code: "not-built",
    kind: "config",
    message: `There is no daemon in ${root}; in a checkout run npm run build, otherwise reinstall Reeve.`,
  });
}
