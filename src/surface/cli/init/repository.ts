/**
 * The repository that `reeve init codex` works in: its top directory, and what of
 * its `.codex` may be written. Nothing is written through a link that leads out of
 * the repository or to a file that other agents read, and nothing that is
 * read-only is made writable.
 */
import { execFileSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { gitDirectoryAt } from "../../../platform/git-directory.ts";
import { errnoOf, ReeveError } from "../../../platform/reeve-error.ts";

/** The top directory of the nearest checkout. */
export function repositoryAround(cwd: string): string | null {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    if (gitDirectoryAt(directory) !== null) return directory;
    if (dirname(directory) === directory) return null;
  }
}

/** What other agents load, or what configures Codex: a link to it is not followed. */
const NOT_OURS = /^(?:AGENTS(?:\..*)?|CLAUDE(?:\..*)?|GEMINI)\.md$|^config\.toml$/i;

/** The file itself, behind links inside the repository; throws where it must not be written. */
export function writablePath(top: string, path: string): string {
  const real = behindLinks(path);
  const root = realpathSync(top);
  const from = relative(root, real);
  if (from === ".." || from.startsWith("../"))
    throw refused("linked-file", `${path} leads out of this repository, to ${real}`);
  if (basename(real) !== basename(path) && NOT_OURS.test(basename(real)))
    throw refused("linked-file", `${path} is a link to ${real}, which Reeve does not change`);
  if (existsSync(real) && !statSync(real).isFile()) throw refused("not-a-file", `${real} is not a file`);
  const directory = nearest(dirname(real));
  const locked = [...(existsSync(real) ? [real] : []), directory].find(isReadOnly);
  if (locked !== undefined) throw refused("read-only", `${locked} is read-only`);
  return real;
}

/** Root may write everything; what nobody has the permission to write is left alone by root as well. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return (statSync(path).mode & 0o222) === 0;
  } catch {
    return true;
  }
}

function refused(code: string, why: string): ReeveError {
  return new ReeveError({
    code,
    kind: "conflict",
    message: `${why}, so nothing was changed. Change that and run this again.`,
  });
}

function nearest(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : nearest(dirname(directory));
}

/** Also of what does not exist yet, and of a link that leads to nothing. */
function behindLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new ReeveError({
        code: "linked-file",
        kind: "conflict",
        message: `${path} is a link that leads to nothing, so nothing was changed. Remove it or make what it leads to, then run this again.`,
      });
    return join(behindLinks(dirname(path)), basename(path));
  }
}

/** Whether git would report a carriage return at the end of a new line of this file; false where git cannot be asked. */
export function isReturnReported(path: string): boolean {
  const git = (...args: readonly string[]): string => {
    try {
      return execFileSync("git", ["-C", dirname(path), ...args], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        timeout: 10_000,
      });
    } catch {
      return "";
    }
  };
  if (/\bcr-at-eol\b/.test(git("config", "core.whitespace"))) return false;
  return /^i\/(?:crlf|mixed)\b/.test(git("ls-files", "--eol", "--", basename(path)));
}

/**
 * Whether something loads `.codex/CODEX.md` into Codex's turns: a hook that names it, itself or in a script it runs, or
 * Codex's own setting for further names of AGENTS.md.
 */
export function isLoadedByHooks(top: string, codexHome: string): boolean {
  const files = [join(top, ".codex"), codexHome].flatMap((directory) =>
    ["hooks.json", "config.toml"].map((name) => join(directory, name)),
  );
  const texts = files.flatMap(readText);
  const scripts = texts
    .flatMap((text) => [...text.matchAll(/[\w./-]+\.(?:sh|js|mjs|cjs|ts|py)\b/g)])
    .map(([path]) => path);
  const named = scripts.flatMap((path) => readText(resolve(top, path)));
  return [...texts, ...named, ...hookFiles(join(top, ".codex", "hooks"))].some((text) => text.includes("CODEX.md"));
}

function hookFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory).flatMap((name) => readText(join(directory, name)));
  } catch {
    return [];
  }
}

function readText(path: string): readonly string[] {
  try {
    return statSync(path).isFile() ? [readFileSync(path, "utf8")] : [];
  } catch {
    return [];
  }
}
