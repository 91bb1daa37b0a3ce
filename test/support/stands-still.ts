/** Whether a process is stopped: by signal, or because its cgroup is frozen. */
import { cgroupOf, isFrozen } from "../../src/platform/cgroup.ts";
import { isStopped, readProcess } from "../../src/platform/process-table.ts";

export function standsStill(pid: number): boolean {
  const row = readProcess(pid);
  if (row === null) return false;
  const cgroup = cgroupOf(pid);
  return isStopped(row) || ("dir" in cgroup && isFrozen(cgroup.dir));
}
