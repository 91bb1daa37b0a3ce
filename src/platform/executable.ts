/** Finds a program as execvp(3) would, so that a missing program is reported before anything is started. */
import { accessSync, constants, statSync } from "node:fs";
import { join, resolve } from "node:path";

export function findExecutable(
  command: string,
  where: { readonly cwd: string; readonly path: string | undefined },
): string | null {
  if (command === "") return null;
  if (command.includes("/")) return executable(resolve(where.cwd, command));
  for (const directory of (where.path ?? "/usr/local/bin:/usr/bin:/bin").split(":")) {
    const found = executable(join(resolve(where.cwd, directory), command));
    if (found !== null) return found;
  }
  return null;
}

function executable(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? path : null;
  } catch {
    return null;
  }
}
