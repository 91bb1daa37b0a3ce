/**
 * All processes of one session, found three ways: by the mark in their
 * environment, by descent from the pane's process, and by the terminal session
 * that process leads. Owns stopping, suspending and releasing them. Signals
 * nothing that none of the three proves ours, and checks each pid with its
 * start time right before each signal.
 */
import type { Clock } from "../../platform/clock.ts";
import {
  childrenOf,
  isAlive,
  isDead,
  isStopped,
  listProcesses,
  type ProcessRow,
  readCommandLine,
  readEnvironment,
  readProcess,
  sendSignal,
} from "../../platform/process-table.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Place } from "../../session/session.ts";
import { parseMark, type StopOptions, type StopReport, type Stray, type Target } from "../contract.ts";
import { markOf } from "./process-mark.ts";

export interface Tree {
  readonly instance: string;
  readonly mark: string;
  /** The pane's process while it lives: the wrapper, which ends when its child does. */
  readonly place: Place | null;
  /** Processes never to be signalled whatever they carry: the tmux server. */
  readonly spared: readonly number[];
}

/** Everything of the tree but its wrapper, oldest ancestors first. */
export function membersOf(tree: Tree): readonly ProcessRow[] {
  const wrapper = tree.place !== null && isAlive(tree.place.pid, tree.place.startTicks) ? tree.place.pid : null;
  const rows = listProcesses().filter((row) => !isDead(row));
  const below = wrapper === null ? new Set<number>() : descendantsOf(wrapper, rows);
  return rows.filter((row) => {
    if (row.pid === wrapper || isSpared(row.pid, tree)) return false;
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

function descendantsOf(root: number, rows: readonly ProcessRow[]): ReadonlySet<number> {
  const children = Map.groupBy(rows, (row) => row.ppid);
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

/** Short enough that an orderly end is noticed at once, long enough to cost nothing. */
const POLL_MS = 15;
/** SIGKILL takes effect in milliseconds; five seconds without means the kernel holds the process (state D). */
const KILL_LIMIT_MS = 5_000;

export async function stopTree(tree: Tree, options: StopOptions, clock: Clock): Promise<StopReport> {
  const terminated = new Set<string>();
  const killed = new Set<string>();
  const graceEndsAt = clock.monotonic() + options.graceMs;
  let members = membersOf(tree);
  while (members.length > 0 && clock.monotonic() < graceEndsAt && options.hurry?.aborted !== true) {
    for (const row of members) {
      if (terminated.has(keyOf(row)) || !sendSignal(row.pid, row.startTicks, "SIGTERM")) continue;
      terminated.add(keyOf(row));
      // A stopped process only meets the signal once it runs again.
      sendSignal(row.pid, row.startTicks, "SIGCONT");
    }
    await whileAlive(members, graceEndsAt, clock, options.hurry);
    members = membersOf(tree);
  }
  const killEndsAt = clock.monotonic() + KILL_LIMIT_MS;
  while (members.length > 0 && clock.monotonic() < killEndsAt) {
    for (const row of members) {
      if (sendSignal(row.pid, row.startTicks, "SIGKILL")) killed.add(keyOf(row));
    }
    await whileAlive(members, Math.min(killEndsAt, clock.monotonic() + 10 * POLL_MS), clock);
    members = membersOf(tree);
  }
  if (members.length === 0) {
    await endWrapper(tree, clock);
    members = await endLast(tree, clock);
  }
  return {
    terminated: terminated.size,
    killed: killed.size,
    survivors: members.map((row) => row.pid),
    evidence: stopEvidence(terminated.size, killed.size, members),
  };
}

/** The wrapper ends by itself after its child; one that does not is killed. */
async function endWrapper(tree: Tree, clock: Clock): Promise<void> {
  if (tree.place === null) return;
  const row = readProcess(tree.place.pid);
  if (row === null || row.startTicks !== tree.place.startTicks) return;
  await whileAlive([row], clock.monotonic() + 500, clock);
  sendSignal(row.pid, row.startTicks, "SIGKILL");
  await whileAlive([row], clock.monotonic() + 500, clock);
}

/** What the wrapper leaves for a moment (wrapper.ts says why), and a fork that slipped between two looks. */
async function endLast(tree: Tree, clock: Clock): Promise<readonly ProcessRow[]> {
  const endsAt = clock.monotonic() + 1_000;
  for (;;) {
    const rows = membersOf(tree);
    if (rows.length === 0 || clock.monotonic() > endsAt) return rows;
    await whileAlive(rows, clock.monotonic() + 300, clock);
    for (const row of rows) sendSignal(row.pid, row.startTicks, "SIGKILL");
  }
}

/** Returns when all of them are gone, at the deadline, or when asked to hurry. */
async function whileAlive(
  rows: readonly ProcessRow[],
  until: number,
  clock: Clock,
  hurry?: AbortSignal,
): Promise<void> {
  while (rows.some((row) => isAlive(row.pid, row.startTicks)) && clock.monotonic() < until) {
    if (hurry?.aborted === true) return;
    await clock.sleep(POLL_MS, hurry).catch(() => {}); // hurried: the loop sees it
  }
}

function stopEvidence(terminated: number, killed: number, survivors: readonly ProcessRow[]): string {
  const done = `${terminated} processes were asked to end, ${killed} were killed`;
  if (survivors.length === 0) return `${done}; none with the mark is left`;
  return `${done}; still there: ${survivors.map((row) => `${row.pid} (state ${row.state})`).join(", ")}`;
}

/** New children may appear while their parents are being stopped, so it goes round until a whole round finds none running. */
export async function suspendTree(tree: Tree, clock: Clock): Promise<string> {
  const endsAt = clock.monotonic() + KILL_LIMIT_MS;
  let members = membersOf(tree);
  for (;;) {
    const running = members.filter((row) => !isStopped(row));
    if (running.length === 0 || clock.monotonic() > endsAt) break;
    for (const row of running) sendSignal(row.pid, row.startTicks, "SIGSTOP");
    await clock.sleep(2);
    members = membersOf(tree);
  }
  const running = members.filter((row) => !isStopped(row)).map((row) => row.pid);
  if (running.length > 0) return `${members.length} processes; these could not be stopped: ${running.join(", ")}`;
  return `${members.length} processes are stopped (state T)`;
}

export async function releaseTree(tree: Tree, clock: Clock): Promise<string> {
  const endsAt = clock.monotonic() + KILL_LIMIT_MS;
  let members = membersOf(tree);
  while (members.some(isStopped) && clock.monotonic() < endsAt) {
    for (const row of members) sendSignal(row.pid, row.startTicks, "SIGCONT");
    await clock.sleep(2);
    members = membersOf(tree);
  }
  const stopped = members.filter(isStopped).map((row) => row.pid);
  if (stopped.length > 0) return `${members.length} processes; these stay stopped: ${stopped.join(", ")}`;
  return `${members.length} processes run again`;
}

/** From the pane's process and its first child, where they are known; else by a walk over all processes. */
export function environmentOfPlace(mark: string, place: Place | null): Readonly<Record<string, string>> | null {
  if (place !== null && isAlive(place.pid, place.startTicks)) {
    const child = childrenOf(place.pid).find((pid) => markOf(pid) === mark);
    if (child !== undefined) return readEnvironment(child);
  }
  return environmentOfMark(mark);
}

/** The program's own environment, not the wrapper's, which still holds what tmux added. */
export function environmentOfMark(mark: string): Readonly<Record<string, string>> | null {
  const marked = listProcesses().filter((row) => !isDead(row) && markOf(row.pid) === mark);
  const wrapper = marked.find((row) => row.session === row.pid);
  const program = marked.find((row) => row.ppid === wrapper?.pid) ?? marked.find((row) => row !== wrapper);
  return program === undefined ? null : readEnvironment(program.pid);
}

export function findMarked(instance: string, live: (target: Target) => boolean): readonly Stray[] {
  const strays: Stray[] = [];
  for (const row of listProcesses()) {
    if (row.pid === process.pid || isDead(row)) continue;
    const target = parseMark(instance, markOf(row.pid) ?? "");
    if (target === null || live(target)) continue;
    const command = stripTerminal(readCommandLine(row.pid)).slice(0, 200);
    strays.push({ ...target, pid: row.pid, startTicks: row.startTicks, command });
  }
  return strays;
}

function keyOf(row: ProcessRow): string {
  return `${row.pid}.${row.startTicks}`;
}
