/**
 * Runs git where a session lives. It never asks anybody anything, takes no
 * optional locks, and ignores what the environment says of a repository: only
 * the directory that is named counts.
 */
import type { ProgramRun, SessionFiles } from "../../runtime/session-files.ts";

export interface Git {
  /** In this directory; rejects where git itself cannot be run. A status that is not 0 is an answer. */
  run(cwd: string, args: readonly string[], options?: GitOptions): Promise<ProgramRun>;
}

export interface GitOptions {
  readonly timeoutMs?: number;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Most of what is asked reads a few small files; one that hangs is not waited for. */
const TIMEOUT_MS = 10_000;

/** `paths`: PATH and HOME, by which git and its configuration are found. Null: there is no git there. */
export async function findGit(
  files: SessionFiles,
  cwd: string,
  paths: Readonly<Record<string, string>>,
): Promise<Git | null> {
  const program = await files.findProgram("git", { cwd, path: paths["PATH"] });
  if (program === null) return null;
  const kept = Object.fromEntries(Object.entries(paths).filter(([name]) => !name.startsWith("GIT_")));
  const environment = { ...kept, GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
  return {
    run: (where, args, options = {}) =>
      files.run(program.path, ["-C", where, ...args], {
        environment: { ...environment, ...options.environment },
        timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
        ...(options.input === undefined ? {} : { input: options.input }),
      }),
  };
}
