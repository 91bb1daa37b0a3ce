/**
 * Files that are Reeve's own: plain files, ours, at a path that an agent may
 * have got at. Anything else in their place (a directory, a pipe, a device, a
 * link, somebody else's file) is moved aside to `<path>.set-aside-<n>` and told
 * of; it is never opened in a way that waits, acts or follows.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
} from "node:fs";
import { errnoOf } from "./reeve-error.ts";

/** Never waiting for the other end of a pipe, never taking a terminal. */
const CAREFULLY = constants.O_NONBLOCK | constants.O_NOCTTY;

type Listener = (path: string, target: string) => void;
const untold: Parameters<Listener>[] = [];
let listener: Listener = (path, target) => void untold.push([path, target]);

/** Told of each thing that this process moves aside, also of what it moved before it was asked. */
export function onSetAside(tell: Listener): void {
  listener = tell;
  for (const [path, target] of untold.splice(0)) tell(path, target);
}

/** Opens a file of ours after making sure that it is one; with O_CREAT it is made, 0600, where there is none. */
export function openOwnFile(path: string, flags: number, mode = 0o600): number {
  clearTheWay(path);
  return openPlain(path, flags | constants.O_NOFOLLOW, mode);
}

/** The whole of it; null where there is none. Throws for one that is too large. */
export function readOwnFile(path: string, mostBytes: number): string | null {
  clearTheWay(path);
  return read(path, mostBytes, constants.O_NOFOLLOW);
}

/** A file that is only looked at: links are followed, nothing is moved. Throws for what is not a plain file, or too large. */
export function readPlainFile(path: string, mostBytes: number): string | null {
  // A device may act on being opened.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw notPlain(path);
  return read(path, mostBytes, 0);
}

/** Moves aside whatever stands at the path and is not a plain file of ours; returns where to, or null. */
export function clearTheWay(path: string): string | null {
  const about = lstatSync(path, { throwIfNoEntry: false });
  return about === undefined || isOurs(about) ? null : setAside(path);
}

/** The same for a directory of ours. */
export function clearTheWayForDirectory(path: string): string | null {
  const about = lstatSync(path, { throwIfNoEntry: false });
  return about === undefined || about.isDirectory() ? null : setAside(path);
}

/** Moves it aside, whatever it is; returns where to. */
export function setAside(path: string): string {
  let number = 1;
  const target = (): string => `${path}.set-aside-${number}`;
  while (lstatSync(target(), { throwIfNoEntry: false }) !== undefined) number += 1;
  renameSync(path, target());
  listener(path, target());
  return target();
}

function isOurs(about: Stats): boolean {
  const uid = process.getuid?.();
  return about.isFile() && (uid === undefined || about.uid === uid);
}

function openPlain(path: string, flags: number, mode?: number): number {
  const file = openSync(path, flags | CAREFULLY, mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw notPlain(path);
}

function read(path: string, mostBytes: number, flags: number): string | null {
  let file: number;
  try {
    file = openPlain(path, constants.O_RDONLY | flags);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    if (size > mostBytes) throw new Error(`${path} has ${size} bytes, more than ${mostBytes}`);
    const buffer = Buffer.alloc(size);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, size, 0));
  } finally {
    closeSync(file);
  }
}

function notPlain(path: string): Error {
  return new Error(`${path} is not a regular file`);
}
