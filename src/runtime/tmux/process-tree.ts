/**
 * All processes of one session, found four ways: by its cgroup, where it has
 * one; by the mark in their environment; by descent from the pane's process;
 * and by the terminal session that process leads. A process that none of these
 * finds is not part of the session.
 */
import { type CgroupPath, processesIn } from "../../platform/cgroup.ts";
import {
  childrenOf,
  isAlive,
  isDead,
  listProcesses,
  type ProcessRow,
  readCommandLine,
  readEnvironment,
} from "../../platform/process-table.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { parseMark, type Stray, type Target } from "../contract.ts";
import { takeCensus } from "./census.ts";
import type { PanePlace } from "./pane-place.ts";
import { markOf } from "./process-mark.ts";

export interface Tree {
  readonly instance: string;
  readonly mark: string;
  /** The pane's process while it lives: the wrapper, which ends when its child does. */
  readonly place: PanePlace | null;
  /** Processes never to be signalled whatever they carry: the tmux server. */
  readonly spared: readonly number[];
  /** The cgroup in which all of it is but the wrapper, or why it has none. */
  readonly cgroup: CgroupPath;
}

/** Everything of the tree but its wrapper, oldest ancestors first. */
export async function membersOf(tree: Tree): Promise<readonly ProcessRow[]> {
  const { rows, markOf } = await takeCensus();
  const wrapper = tree.place !== null && isAlive(tree.place.pid, tree.place.startTicks) ? tree.place.pid : null;
  const below = wrapper === null ? new Set<number>() : descendantsOf(wrapper, childrenIn(rows));
  const inside = new Set("dir" in tree.cgroup ? processesIn(tree.cgroup.dir) : []);
  return rows.filter((row) => {
    if (row.pid === wrapper || isSpared(row.pid, tree)) return false;
    if (inside.has(row.pid)) return true;
    const isRelated = below.has(row.pid) || (wrapper !== null && row.session === wrapper);
    const mark = markOf(row.pid);
    if (mark === tree.mark) return true;
    // Another session's process stays its own, however it came to stand below this one.
    return isRelated && (mark === null || parseMark(tree.instance, mark) === null);
  });
}

function isSpared(pid: number, tree: Tree): boolean {
  return pid <= 1 || pid === process.pid || tree.spared.includes(pid);
}

type Children = ReadonlyMap<number, readonly ProcessRow[]>;

/** By the pid of their parent. */
export function childrenIn(rows: readonly ProcessRow[]): Children {
  return Map.groupBy(rows, (row) => row.ppid);
}

export function descendantsOf(root: number, children: Children): ReadonlySet<number> {
  const found = new Set<number>();
  const queue = [root];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of children.get(pid) ?? []) {
      // A daemon that was started from inside a session is no part of it, nor is what it started.
      if (found.has(child.pid) || child.pid === process.pid) continue;
      found.add(child.pid);
      queue.push(child.pid);
    }
  }
  return found;
}

/** From the pane's process and its first child, where they are known; else by a walk over all processes. */
export function environmentOfPlace(mark: string, place: PanePlace | null): Readonly<Record<string, string>> | null {
  if (place !== null && isAlive(place.pid, place.startTicks)) {
    const child = childrenOf(place.pid).find((pid) => markOf(pid) === mark);
    if (child !== undefined) return readEnvironment(child);
  }
  return environmentOfMark(mark);
}

/** The program's own environment, not the wrapper's, which still holds what tmux added. */
function environmentOfMark(mark: string): Readonly<Record<string, string>> | null {
  const marked = listProcesses().filter((row) => !isDead(row) && markOf(row.pid) === mark);
  const wrapper = marked.find((row) => row.session === row.pid);
  const program = marked.find((row) => row.ppid === wrapper?.pid) ?? marked.find((row) => row !== wrapper);
  return program === undefined ? null : readEnvironment(program.pid);
}

/** By the mark in the process, and by the cgroup it is in. */
export function findStrays(
  instance: string,
  live: (target: Target) => boolean,
  cgroups: readonly (Target & { readonly pids: readonly number[] })[],
): readonly Stray[] {
  const placed = new Map(cgroups.flatMap(({ pids, ...target }) => pids.map((pid) => [pid, target] as const)));
  const strays: Stray[] = [];
  for (const row of listProcesses()) {
    if (row.pid === process.pid || isDead(row)) continue;
    const target = placed.get(row.pid) ?? parseMark(instance, markOf(row.pid) ?? "");
    if (target === null || live(target)) continue;
    const command = stripTerminal(readCommandLine(row.pid)).slice(0, 200);
    strays.push({ ...target, what: `process ${row.pid} (${command})` });
  }
  return strays;
}
