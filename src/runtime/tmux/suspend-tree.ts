/**
 * Stops all processes of a session and lets them go on. With a cgroup it uses
 * the kernel's freezer, which no process inside notices or escapes. Processes
 * outside the cgroup, or all if there is none, are stopped by signal. It
 * reports that all are stopped only after it has seen that.
 */
import { isFrozen, processesIn, setFrozen } from "../../platform/cgroup.ts";
import type { Clock } from "../../platform/clock.ts";
import { isStopped, type ProcessRow, sendSignal } from "../../platform/process-table.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { membersOf, type Tree } from "./process-tree.ts";

/** Both take milliseconds; five seconds without means that the kernel holds a process (state D). */
const LIMIT_MS = 5_000;
const LOOK_MS = 2;

export async function suspendTree(tree: Tree, clock: Clock): Promise<string> {
  const endsAt = clock.monotonic() + LIMIT_MS;
  const frozen = await setFreezer(tree, true, endsAt, clock);
  // New children may appear while their parents are being stopped, so it goes round until a round finds none running.
  for (;;) {
    const { inside, outside } = await sorted(tree, frozen);
    const running = outside.filter((row) => !isStopped(row));
    if (running.length === 0) return stoppedSentence(tree, inside.length, outside.length);
    if (clock.monotonic() > endsAt) throw notDone("do not stop", running);
    for (const row of running) sendSignal(row.pid, row.startTicks, "SIGSTOP");
    await clock.sleep(LOOK_MS);
  }
}

export async function releaseTree(tree: Tree, clock: Clock): Promise<string> {
  const endsAt = clock.monotonic() + LIMIT_MS;
  const thawed = await setFreezer(tree, false, endsAt, clock);
  for (;;) {
    // What stands still inside was not stopped by us, but by a shell for its own reasons.
    const { inside, outside } = await sorted(tree, thawed);
    const stopped = outside.filter(isStopped);
    if (stopped.length === 0) return running(inside.length + outside.length);
    if (clock.monotonic() > endsAt) throw notDone("stay stopped", stopped);
    for (const row of stopped) sendSignal(row.pid, row.startTicks, "SIGCONT");
    await clock.sleep(LOOK_MS);
  }
}

/** The cgroup whose freezer did it; null where there is none that could. */
async function setFreezer(tree: Tree, isWanted: boolean, endsAt: number, clock: Clock): Promise<string | null> {
  if (!("dir" in tree.cgroup) || !setFrozen(tree.cgroup.dir, isWanted)) return null;
  const { dir } = tree.cgroup;
  while (isFrozen(dir) !== isWanted) {
    if (clock.monotonic() > endsAt) throw notDone(isWanted ? "do not stop" : "stay stopped", await membersOf(tree));
    await clock.sleep(LOOK_MS);
  }
  return dir;
}

async function sorted(
  tree: Tree,
  dir: string | null,
): Promise<{ readonly inside: readonly ProcessRow[]; readonly outside: readonly ProcessRow[] }> {
  const members = await membersOf(tree);
  const pids = new Set(dir === null ? [] : processesIn(dir));
  return {
    inside: members.filter(({ pid }) => pids.has(pid)),
    outside: members.filter(({ pid }) => !pids.has(pid)),
  };
}

function stoppedSentence({ cgroup }: Tree, frozen: number, signalled: number): string {
  const count = frozen + signalled;
  const stopped = `${counted(count)} ${count === 1 ? "is" : "are"} stopped`;
  if (frozen > 0)
    return `${stopped} (frozen in the session's cgroup${signalled > 0 ? `, ${signalled} by signal` : ""})`;
  return `${stopped} by signal${"why" in cgroup ? ` (no cgroup here: ${cgroup.why})` : ""}`;
}

function running(count: number): string {
  return `${counted(count)} ${count === 1 ? "runs" : "run"} again`;
}

function counted(count: number): string {
  return `${count} process${count === 1 ? "" : "es"}`;
}

function notDone(what: string, rows: readonly ProcessRow[]): ReeveError {
  return new ReeveError({
    code: "not-suspended",
    kind: "unavailable",
    message: `Processes ${rows.map(({ pid, state }) => `${pid} (state ${state})`).join(", ")} ${what}; Reeve tries again.`,
  });
}
