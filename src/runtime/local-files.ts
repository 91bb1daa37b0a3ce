/**
 * Session files for runtimes whose sessions live on this machine. Agents write
 * these files, so reads are bounded, never wait, and follow a link only on
 * request.
 *
 * Small files are read without Node's thread pool, because that is faster and
 * somebody waits for what a hook's record says (turn-end bench).
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, realpathSync, type Stats, statSync, unlinkSync, watch } from "node:fs";
import { chmod, link as hardLink, mkdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { writeFileAtomic } from "../platform/atomic-file.ts";
import { withDescriptor } from "../platform/descriptors.ts";
import { findExecutable } from "../platform/executable.ts";
import { readTail } from "../platform/file-tail.ts";
import { blankUpTo, readNewLines } from "../platform/line-cursor.ts";
import { clearTheWay, clearTheWayForDirectory } from "../platform/own-file.ts";
import { readPlainFile } from "../platform/plain-file.ts";
import { isDead, listProcesses, openFilesOf, readArguments, workingDirectoryOf } from "../platform/process-table.ts";
import { errnoOf, messageOf } from "../platform/reeve-error.ts";
import { removeTree } from "../platform/remove-tree.ts";
import type {
  AskOptions,
  FileChange,
  FileEntry,
  FileState,
  FileWatch,
  ProgramRun,
  RunOptions,
  SessionFiles,
} from "./session-files.ts";

export const localFiles: SessionFiles = {
  read: async (path, options) => readSmall(path, options),
  readNewLines,
  blankUpTo,
  readTail,
  async stat(path) {
    const about = await unlessGone(stat(path));
    return about === null ? null : stateOf(about);
  },
  list: async (directory) => entriesOf(directory),
  watch: async (path, tell) => watchFile(path, tell),
  async write({ path, content, isExecutable }) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, content);
    await chmod(path, isExecutable ? 0o700 : 0o600);
  },
  async makeDirectory(path) {
    clearTheWayForDirectory(path);
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  async remove(path) {
    if (clearTheWay(path) === null) await rm(path, { force: true });
  },
  removeTree,
  removeLeftover: async (path) => removeLeftover(path),
  link,
  async hold(path, target) {
    try {
      await rm(path, { force: true });
      await hardLink(target, path);
      return true;
    } catch (error) {
      // Another disk, or one without such names.
      if (["EXDEV", "EPERM", "ENOTSUP", "EMLINK"].includes(errnoOf(error) ?? "")) return false;
      throw error;
    }
  },
  async unlink(path, target) {
    if ((await linkedAt(path)) === target) await unlessGone(rm(path));
  },
  async realPath(path) {
    try {
      return realpathSync(path);
    } catch (error) {
      if (isGone(error)) return null;
      throw error;
    }
  },
  async findProgram(command, where) {
    const path = findExecutable(command, where);
    if (path === null) return null;
    const about = statSync(path);
    return { path, stamp: `${path} ${about.mtimeMs} ${about.size}` };
  },
  ask,
  run,
  processesIn: async (directory) => processesIn(directory),
};

/** The machine is short of something, or its disk does not answer: says nothing about the file. */
const PASSING = new Set(["EMFILE", "ENFILE", "ENOMEM", "EIO", "EINTR", "EAGAIN", "ETIMEDOUT", "ESTALE"]);

function readSmall(
  path: string,
  { mostBytes, refuseLinks }: { readonly mostBytes: number; readonly refuseLinks?: true },
): string | null {
  return withDescriptor(() => {
    try {
      return readPlainFile(path, mostBytes, refuseLinks === true ? "refused" : "followed");
    } catch (error) {
      // Whatever else stands in its place is no file that may be read.
      if (PASSING.has(errnoOf(error) ?? "")) throw error;
      return null;
    }
  });
}

function entriesOf(directory: string): readonly FileEntry[] {
  try {
    return withDescriptor(() => readdirSync(directory, { withFileTypes: true })).map((entry) => ({
      name: entry.name,
      isFile: entry.isFile(),
      isDirectory: entry.isDirectory(),
    }));
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function watchFile(path: string, tell: (change: FileChange) => void): FileWatch {
  const watcher = watch(path, (event, name) => tell({ type: "changed", name, written: event === "change" })).unref();
  watcher.on("error", (error) => {
    watcher.close();
    tell({ type: "lost", why: messageOf(error) });
  });
  return { close: () => watcher.close() };
}

function removeLeftover(path: string): void {
  const directory = lstatSync(dirname(path), { throwIfNoEntry: false });
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (directory?.isDirectory() !== true || !isOurs(directory)) return;
  if (file !== undefined && !file.isDirectory() && isOurs(file)) unlinkSync(path);
}

async function link(path: string, target: string, how: "new" | "replace"): Promise<boolean> {
  if ((await linkedAt(path)) === target) return true;
  if (how === "new") {
    try {
      await symlink(target, path);
      return true;
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
  }
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  await symlink(target, temporary);
  try {
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return true;
}

/** Where the link at this path leads; null where there is none. */
async function linkedAt(path: string): Promise<string | null> {
  return await readlink(path).catch((error: unknown) => {
    if (isGone(error) || errnoOf(error) === "EINVAL") return null;
    throw error;
  });
}

function ask(path: string, args: readonly string[], { environment, timeoutMs }: AskOptions): Promise<string> {
  const settings = { timeout: timeoutMs, killSignal: "SIGKILL", env: environment, maxBuffer: 65_536 } as const;
  return new Promise((resolve) => execFile(path, [...args], settings, (_error, stdout) => resolve(stdout)));
}

/** What a program may print; git lists the files of a large checkout. */
const MOST_PRINTED_BYTES = 16_777_216;

function run(
  path: string,
  args: readonly string[],
  { environment, timeoutMs, input = "" }: RunOptions,
): Promise<ProgramRun> {
  const settings = {
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    env: environment,
    maxBuffer: MOST_PRINTED_BYTES,
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(path, [...args], settings, (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code;
      if (typeof status === "number") resolve({ status, stdout, stderr });
      else if (error?.killed === true) reject(new Error(`${path} did not end within ${timeoutMs / 1_000} s`));
      else reject(error ?? new Error(`${path} could not be run`));
    });
    // One that ends before it has read everything has said what it wanted.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

function processesIn(directory: string): readonly string[] {
  const root = realpathSync(directory);
  const isInside = (path: string | null): boolean => path === root || path?.startsWith(`${root}/`) === true;
  return (
    listProcesses()
      // What this process runs itself, such as git, is there for a moment and looks on.
      .filter((row) => row.pid !== process.pid && row.ppid !== process.pid && !isDead(row))
      .filter(({ pid }) => isInside(workingDirectoryOf(pid)) || openFilesOf(pid).some(isInside))
      .map(({ pid }) => `process ${pid} (${basename(readArguments(pid)[0] ?? "?")})`)
  );
}

function stateOf(about: Stats): FileState {
  return {
    isFile: about.isFile(),
    isDirectory: about.isDirectory(),
    identity: String(about.ino),
    size: about.size,
    modifiedAt: about.mtimeMs,
  };
}

function isOurs({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}

async function unlessGone<T>(looking: Promise<T>): Promise<T | null> {
  return await looking.catch((error: unknown) => {
    if (isGone(error)) return null;
    throw error;
  });
}

function isGone(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}
