/**
 * Session files for runtimes whose sessions live on this machine. Agents write
 * these files, so reads are bounded, never wait, and follow a link only on
 * request.
 *
 * Small files are read without Node's thread pool, because that is faster and
 * somebody waits for what a hook's record says (turn-end bench).
 */
import { execFile } from "node:child_process";
import { lstatSync, readdirSync, realpathSync, type Stats, statSync, unlinkSync, watch } from "node:fs";
import { chmod, mkdir, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "../platform/atomic-file.ts";
import { withDescriptor } from "../platform/descriptors.ts";
import { findExecutable } from "../platform/executable.ts";
import { readTail } from "../platform/file-tail.ts";
import { readNewLines } from "../platform/line-cursor.ts";
import { clearTheWay, clearTheWayForDirectory } from "../platform/own-file.ts";
import { readPlainFile } from "../platform/plain-file.ts";
import { errnoOf, messageOf } from "../platform/reeve-error.ts";
import type { AskOptions, FileChange, FileEntry, FileState, FileWatch, SessionFiles } from "./session-files.ts";

export const localFiles: SessionFiles = {
  read: async (path, options) => readSmall(path, options),
  readNewLines,
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
  removeLeftover: async (path) => removeLeftover(path),
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

function ask(path: string, args: readonly string[], { environment, timeoutMs }: AskOptions): Promise<string> {
  const settings = { timeout: timeoutMs, killSignal: "SIGKILL", env: environment, maxBuffer: 65_536 } as const;
  return new Promise((resolve) => execFile(path, [...args], settings, (_error, stdout) => resolve(stdout)));
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
