/**
 * Makes and checks directories that only the user may read. An existing
 * directory is only checked, never changed: its permissions are the user's
 * decision, so the error names the command to run.
 */
import { accessSync, constants, lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf, messageOf, ReeveError } from "./reeve-error.ts";

/** Makes the directory and its missing parents with mode 0700, or proves that what is there is private and ours. */
export function ensurePrivateDir(path: string): void {
  const found = inspect(path) ?? create(path);
  if (found.isSymbolicLink() || !found.isDirectory()) {
    throw notPrivate(path, `${path} is not a real directory; move it away (mv '${path}' '${path}.old') and try again.`);
  }
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) {
    throw notPrivate(
      path,
      `${path} belongs to user ${found.uid}, not to you (${uid}); give Reeve a directory of your own, or run: sudo chown ${uid} '${path}'`,
    );
  }
  const mode = found.mode & 0o777;
  if ((mode & 0o077) !== 0) {
    throw notPrivate(
      path,
      `${path} can be reached by others (mode ${mode.toString(8).padStart(3, "0")}); run: chmod 700 '${path}'`,
    );
  }
  if ((mode & 0o700) !== 0o700) throw notWritable(path, `its mode is ${mode.toString(8).padStart(3, "0")}`);
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw errnoOf(error) === "EROFS" ? onReadOnlyDisk(path) : notWritable(path, messageOf(error));
  }
}

function onReadOnlyDisk(path: string): ReeveError {
  const message = `${path} is on a read-only file system; choose a directory that can be written.`;
  return new ReeveError({ code: "home-not-writable", kind: "config", message, details: { path } });
}

function inspect(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw notMade(path, error);
  }
}

function create(path: string): Stats {
  try {
    makeWithParents(path);
    return lstatSync(path);
  } catch (error) {
    throw error instanceof ReeveError ? error : notMade(path, error);
  }
}

/** Parent by parent: `recursive: true` of Node 24.21 never returns below /proc, where mkdir(2) says ENOENT whatever is there. */
function makeWithParents(path: string): void {
  const parent = dirname(path);
  if (parent !== path && inspect(parent) === undefined) makeWithParents(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

function notPrivate(path: string, message: string): ReeveError {
  return new ReeveError({ code: "home-not-private", kind: "config", message, details: { path } });
}

/** It is there. */
function notWritable(path: string, why: string): ReeveError {
  const message = `${path} cannot be written (${why}); check its disk, then run: chmod 700 '${path}'`;
  return new ReeveError({ code: "home-not-writable", kind: "config", message, details: { path } });
}

/** It is not there, and what it would be made in does not allow it. */
function notMade(path: string, error: unknown): ReeveError {
  const message = notMadeSentence(path, nearestThere(path), error);
  return new ReeveError({ code: "home-not-writable", kind: "config", message, details: { path } });
}

/** For tests, too: what root may not do either is hard to make. */
export function notMadeSentence(
  path: string,
  there: { readonly path: string; readonly isDirectory: boolean },
  error: unknown,
): string {
  if (!there.isDirectory)
    return `${path} cannot be made, because ${there.path} is not a directory; move it away (mv '${there.path}' '${there.path}.old'), or choose another directory.`;
  switch (errnoOf(error)) {
    case "EROFS":
      return `${path} cannot be made, because ${there.path} is on a read-only file system; choose a directory that can be written.`;
    case "EACCES":
    case "EPERM":
      return `${path} cannot be made, because you may not write in ${there.path}; choose a directory of your own.`;
    default:
      return `${path} cannot be made in ${there.path} (${messageOf(error)}); check its disk, or choose another directory.`;
  }
}

/** The directory itself where it is there, or the nearest above it. */
function nearestThere(path: string): { readonly path: string; readonly isDirectory: boolean } {
  try {
    return { path, isDirectory: statSync(path).isDirectory() };
  } catch {
    const parent = dirname(path);
    return parent === path ? { path, isDirectory: true } : nearestThere(parent);
  }
}
