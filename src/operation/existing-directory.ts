import { resolve } from "node:path";
import { ReeveError } from "../platform/reeve-error.ts";
import type { SessionFiles } from "../runtime/session-files.ts";

/** The directory as an absolute path; throws where there is none. */
export async function existingDirectory(files: SessionFiles, path: string): Promise<string> {
  const cwd = resolve("/", path);
  if ((await files.stat(cwd))?.isDirectory === true) return cwd;
  throw new ReeveError({
    code: "missing-directory",
    kind: "usage",
    message: `The directory ${cwd} does not exist; create it or give another with --cwd.`,
  });
}
