/**
 * Ends all processes of a session and proves it: asks each to end, kills those
 * that are left after the grace period, and looks again. Checks each pid with
 * its start time right before each signal. If the session has a cgroup, the
 * kernel kills all of it at once and says when nothing is left.
 */
import { isFrozen, isPopulated, killCgroup, processesIn, setFrozen } from "../../platform/cgroup.ts";
import type { Clock } from "../../platform/clock.ts";
import { isAlive, type ProcessRow, readProcess, sendSignal } from "../../platform/process-table.ts";
import type { StopOptions, StopReport } from "../contract.ts";
import { membersOf, type Tree } from "./process-tree.ts";

/** Short enough that an orderly end is noticed at once, long enough to cost nothing. */
const POLL_MS = 15;
/** SIGKILL takes effect in milliseconds; five seconds without means the kernel holds the process (state D). */
const KILL_LIMIT_MS = 5_000;

export async function stopTree(tree: Tree, options: StopOptions, clock: Clock): Promise<StopReport> {
  const terminated = new Set<string>();
  const killed = new Set<string>();
  const graceEndsAt = clock.monotonic() + options.graceMs;
  let members = await membersOf(tree);
  while (members.length > 0 && clock.monotonic() < graceEndsAt && options.hurry?.aborted !== true) {
    for (const row of members) {
      if (terminated.has(keyOf(row)) || !sendSignal(row.pid, row.startTicks, "SIGTERM")) continue;
      terminated.add(keyOf(row));
      // A stopped process only meets the signal once it runs again.
      sendSignal(row.pid, row.startTicks, "SIGCONT");
    }
    thaw(tree);
    await whileAlive(members, graceEndsAt, clock, options.hurry);
    members = await membersOf(tree);
  }
  const killEndsAt = clock.monotonic() + KILL_LIMIT_MS;
  while (hasAny(tree, members) && clock.monotonic() < killEndsAt) {
    kill(tree, members, killed);
    await untilGone(tree, members, Math.min(killEndsAt, clock.monotonic() + 10 * POLL_MS), clock);
    members = await membersOf(tree);
  }
  if (!hasAny(tree, members)) {
    await endWrapper(tree, clock);
    members = await endLast(tree, clock);
  }
  const survivors = [...new Set([...members.map((row) => row.pid), ...left(tree)])];
  const ended = new Set([...terminated, ...killed]).size;
  return {
    terminated: terminated.size,
    killed: killed.size,
    survivors: survivors.map((pid) => `process ${pid}`),
    evidence: survivors.length > 0 ? stillThere(survivors) : proof(tree, ended, killed.size),
  };
}

function hasAny(tree: Tree, members: readonly ProcessRow[]): boolean {
  return members.length > 0 || ("dir" in tree.cgroup && isPopulated(tree.cgroup.dir));
}

/** What the kernel still counts, also where /proc shows it as dead: a process whose first thread ended before the others. */
function left(tree: Tree): readonly number[] {
  if (!("dir" in tree.cgroup) || !isPopulated(tree.cgroup.dir)) return [];
  return processesIn(tree.cgroup.dir) ?? [];
}

function thaw({ cgroup }: Tree): void {
  if ("dir" in cgroup && isFrozen(cgroup.dir)) setFrozen(cgroup.dir, false);
}

/** One by one as well: for what is outside the cgroup, and for kernels that cannot kill one at once, which freeze it first. */
function kill({ cgroup }: Tree, members: readonly ProcessRow[], killed: Set<string>): void {
  for (const row of members) if (sendSignal(row.pid, row.startTicks, "SIGKILL")) killed.add(keyOf(row));
  if ("dir" in cgroup && !killCgroup(cgroup.dir)) setFrozen(cgroup.dir, true);
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
    const rows = await membersOf(tree);
    if (!hasAny(tree, rows) || clock.monotonic() > endsAt) return rows;
    await untilGone(tree, rows, clock.monotonic() + 300, clock);
    kill(tree, rows, new Set());
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

/** These, and whatever else the kernel counts. */
async function untilGone(tree: Tree, rows: readonly ProcessRow[], until: number, clock: Clock): Promise<void> {
  await whileAlive(rows, until, clock);
  while (left(tree).length > 0 && clock.monotonic() < until) await clock.sleep(POLL_MS);
}

function proof({ cgroup }: Tree, ended: number, killed: number): string {
  const how = killed === 0 ? "" : `, ${killed} killed`;
  if ("dir" in cgroup) {
    const what =
      ended === 0 ? "No process was left" : `${ended === 1 ? "Its process" : `All ${ended} processes`} ended`;
    return `${what}${how} (checked in the session's cgroup).`;
  }
  const what =
    ended === 0
      ? "No process of the session was left"
      : `${ended === 1 ? "The process" : `All ${ended} processes`} of the session ended`;
  return `${what}${how}; a process that removed REEVE_MARK from its environment would not be seen (no cgroup here: ${cgroup.why}).`;
}

function stillThere(survivors: readonly number[]): string {
  const described = survivors.map((pid) => `${pid} (state ${readProcess(pid)?.state ?? "unknown"})`);
  return `Some of its processes do not end: ${described.join(", ")}.`;
}

function keyOf(row: ProcessRow): string {
  return `${row.pid}.${row.startTicks}`;
}
