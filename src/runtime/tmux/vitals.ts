/**
 * How the processes of sessions are, in one look: which can run, and how much
 * processor time they have used. A session with a cgroup is read from there,
 * which costs the same however many processes the machine has. Those without
 * share one census, in which a session's processes are found by descent and by
 * their terminal; marks are not read, because a process that hides from its
 * session keeps no turn from going on.
 */
import { type CgroupPath, isFrozen, processesIn } from "../../platform/cgroup.ts";
import { isAboutToStop, isAlive, isDead, type ProcessRow, readProcess } from "../../platform/process-table.ts";
import type { ProcessVitals } from "../../session/process-vitals.ts";
import type { Target, VitalsEntry } from "../contract.ts";
import { takeCensus } from "./census.ts";
import type { PanePlace } from "./pane-place.ts";
import { childrenIn, descendantsOf } from "./process-tree.ts";

interface Placed {
  readonly target: Target;
  readonly place: PanePlace | null;
}

export async function readVitals(
  sessions: readonly Placed[],
  cgroupOf: (target: Target) => CgroupPath,
): Promise<readonly VitalsEntry[]> {
  const found = sessions.map((session) => ({ ...session, cgroup: cgroupOf(session.target) }));
  const rowsOf = found.every(({ cgroup }) => "dir" in cgroup) ? () => [] : await byDescent();
  return found.map(({ target, place, cgroup }) => ({
    ...target,
    processes: "dir" in cgroup ? inCgroup(cgroup.dir) : rowsOf(place).map((row) => vitalsOf(row, false)),
  }));
}

function inCgroup(dir: string): readonly ProcessVitals[] {
  const isStill = isFrozen(dir);
  return (processesIn(dir) ?? []).flatMap((pid) => {
    const row = readProcess(pid);
    return row === null || isDead(row) ? [] : [vitalsOf(row, isStill)];
  });
}

/** Below the pane's process, and on its terminal; not that process, which only waits. */
async function byDescent(): Promise<(place: PanePlace | null) => readonly ProcessRow[]> {
  const { rows } = await takeCensus();
  const children = childrenIn(rows);
  return (place) => {
    if (place === null || !isAlive(place.pid, place.startTicks)) return [];
    const below = descendantsOf(place.pid, children);
    return rows.filter(({ pid, session }) => below.has(pid) || (session === place.pid && pid !== place.pid));
  };
}

/** Traced by a debugger (t) is not stopped: whoever traces it lets it go on. */
function vitalsOf(row: ProcessRow, isFrozenHere: boolean): ProcessVitals {
  const { pid, startTicks, state, group, foregroundGroup, cpuMs, endedCpuMs } = row;
  return {
    id: `${pid} ${startTicks}`,
    text: `process ${pid}`,
    state: isFrozenHere || state === "T" || isAboutToStop(row) ? "stopped" : state === "D" ? "stuck" : "able",
    isForeground: group === foregroundGroup,
    cpuMs,
    endedCpuMs,
  };
}
