/** The caller's working directory. Somebody may have deleted it; that is an error only for commands that need it. */
import { isAbsolute, normalize, resolve } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { CliContext } from "./command.ts";

export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw isGone(error) ? noDirectory() : error;
  }
}

/** A path as the caller means it; only a relative one needs their directory. */
export function absolutePath(context: CliContext, path: string): string {
  return isAbsolute(path) ? normalize(path) : resolve(context.cwd(), path);
}

/** What Node says wherever it asks for the directory, also deep inside a library. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

export function noDirectory(): ReeveError {
  return new ReeveError({
    code: "no-directory",
    kind: "usage",
    message: "The directory you are in no longer exists; go to another one with cd and try again.",
  });
}
