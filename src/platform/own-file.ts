/**
 * Opens Reeve's own files, at paths that an agent may be able to change. If
 * something else is there (a directory, a pipe, a device, a link, somebody
 * else's file), it is moved aside to `<path>.set-aside-<n>` and reported. It is
 * never opened in a way that waits, has side effects or follows a link.
 */
import { constants, lstatSync, renameSync, type Stats } from "node:fs";
import { openPlain, readPlainFile } from "./plain-file.ts";

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
  return readPlainFile(path, mostBytes, "refused");
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
