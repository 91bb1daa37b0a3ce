/**
 * Control groups of Linux (version 2): the kernel's own list of what a process started, which nothing leaves by
 * forking, by a new session or namespace, or by changing its environment. Only this file reads and writes below a
 * cgroup's directory. As in process-table.ts, only the kernel's "not there" means gone; any other failure is thrown.
 *
 *   cgroup.procs    processes in it, one pid a line; a pid written to it moves that process here
 *   cgroup.events   "populated 1": something lives in it or below; "frozen 1": all of that stands still
 *   cgroup.kill     written 1 to, kills all of it at once, also what is just being forked (Linux 5.14)
 *   cgroup.freeze   written 1 to, stops all of it; 0 lets it go on (Linux 5.2)
 */
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { withDescriptor } from "./descriptors.ts";
import { errnoOf, messageOf, ReeveError } from "./reeve-error.ts";

/** The directory of the cgroup a process is in, or why that cannot be said. */
export type CgroupPath = { readonly dir: string } | { readonly why: string };

export function cgroupOf(pid: number | "self"): CgroupPath {
  const membership = readIfThere(`/proc/${pid}/cgroup`);
  if (membership === null) return { why: `process ${pid} is gone` };
  const path = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (path === undefined) return { why: "this kernel has no cgroup v2" };
  const mount = cgroupMount();
  if (mount === null) return { why: "cgroup v2 is not mounted" };
  if (!isWithin(path, mount.root) || path.endsWith(" (deleted)"))
    return { why: `${path} is outside the mounted cgroups` };
  return { dir: join(mount.point, path.slice(mount.root === "/" ? 0 : mount.root.length)) };
}

/** Fields of mountinfo: id, parent, device, root, mount point, options, any number of tags, "-", type, … */
function cgroupMount(): { readonly root: string; readonly point: string } | null {
  for (const line of (readIfThere("/proc/self/mountinfo") ?? "").split("\n")) {
    const [fields = "", rest = ""] = line.split(" - ", 2);
    const [, , , root, point] = fields.split(" ");
    if (rest.startsWith("cgroup2 ") && root !== undefined && point !== undefined)
      return { root: unescaped(root), point: unescaped(point) };
  }
  return null;
}

/** Blanks, tabs, line feeds and backslashes stand there in octal. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function isWithin(path: string, root: string): boolean {
  return !path.includes("/../") && (root === "/" || path === root || path.startsWith(`${root}/`));
}

/** One that is there already will do. */
export function makeCgroup(dir: string): void {
  try {
    mkdirSync(dir);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

/** Also from its own subgroups; null where there is no such cgroup. */
export function processesIn(dir: string): readonly number[] | null {
  const below = subgroupsOf(dir);
  if (below === null) return null;
  const own = processesOf(dir) ?? [];
  return [...own, ...below.flatMap((name) => processesIn(join(dir, name)) ?? [])];
}

function processesOf(dir: string): readonly number[] | null {
  let text: string | null;
  try {
    text = readIfThere(join(dir, "cgroup.procs"));
  } catch (error) {
    // One for threads: their processes are listed by the group above it.
    if (error instanceof ReeveError && error.details["errno"] === "EOPNOTSUPP") return [];
    throw error;
  }
  // 0 stands for a process that this namespace cannot name.
  const pids = text?.split("\n").filter((line) => line !== "" && line !== "0");
  return pids === undefined ? null : pids.map(Number);
}

export function isCgroup(dir: string): boolean {
  return ifThere(dir, () => statSync(dir, { throwIfNoEntry: false })) !== null;
}

/** Names of its files among those of its subgroups, unsorted: without a look at each, which a busy caller can spare. */
export function namesIn(dir: string): readonly string[] {
  return isCgroup(dir) ? (ifThere(dir, () => readdirSync(dir)) ?? []) : [];
}

/** The names of its subgroups; null where there is no such cgroup. */
export function subgroupsOf(dir: string): readonly string[] | null {
  return (
    ifThere(dir, () => readdirSync(dir, { withFileTypes: true }))?.flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    ) ?? null
  );
}

/** Whether anything lives in it or below it. What is not there is empty: the kernel removes no other. */
export function isPopulated(dir: string): boolean {
  return eventsOf(dir).includes("populated 1");
}

export function isFrozen(dir: string): boolean {
  return eventsOf(dir).includes("frozen 1");
}

function eventsOf(dir: string): readonly string[] {
  return (readIfThere(join(dir, "cgroup.events")) ?? "").split("\n");
}

/** False where the kernel cannot. */
export function killCgroup(dir: string): boolean {
  return writeIfThere(join(dir, "cgroup.kill"), "1");
}

/** False where the kernel cannot. Takes effect a moment later: isFrozen says when. */
export function setFrozen(dir: string, isWanted: boolean): boolean {
  return writeIfThere(join(dir, "cgroup.freeze"), isWanted ? "1" : "0");
}

/** Throws where that is not permitted. */
export function moveInto(dir: string, pid: number): void {
  if (!writeIfThere(join(dir, "cgroup.procs"), String(pid))) throw unreadable(dir, "it is gone", "ENOENT");
}

/** With its empty subgroups; false where something still lives in it. */
export function removeCgroup(dir: string): boolean {
  for (const name of subgroupsOf(dir) ?? []) if (!removeCgroup(join(dir, name))) return false;
  return removeIfEmpty(dir);
}

/** False where something lives in it, or it has subgroups. */
export function removeIfEmpty(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch (error) {
    if (isGone(error)) return true;
    if (errnoOf(error) === "EBUSY" || errnoOf(error) === "ENOTEMPTY") return false;
    throw unreadable(dir, messageOf(error), errnoOf(error));
  }
}

function readIfThere(path: string): string | null {
  return ifThere(path, () => readFileSync(path, "utf8"));
}

/** Never makes a file: in a directory that is no cgroup there is none to write to. */
function writeIfThere(path: string, text: string): boolean {
  const isWritten = ifThere(path, () => {
    const file = openSync(path, constants.O_WRONLY);
    try {
      writeSync(file, text);
      return true;
    } finally {
      closeSync(file);
    }
  });
  return isWritten === true;
}

function ifThere<T>(path: string, work: () => T | undefined): T | null {
  try {
    return withDescriptor(work) ?? null;
  } catch (error) {
    if (isGone(error)) return null;
    throw unreadable(path, messageOf(error), errnoOf(error));
  }
}

/** ENODEV: it was removed after its file was opened. */
function isGone(error: unknown): boolean {
  return ["ENOENT", "ENODEV", "ESRCH"].includes(errnoOf(error) ?? "");
}

function unreadable(path: string, why: string, errno: string | undefined): ReeveError {
  return new ReeveError({
    code: "cgroup-unreadable",
    kind: "unavailable",
    message: `The cgroup ${path} could not be used: ${why}. Nothing was concluded from it; try again.`,
    details: { reason: `the cgroup ${path} could not be used: ${why}`, errno },
  });
}
