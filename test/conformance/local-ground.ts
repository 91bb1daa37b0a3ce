/** What only the ground of a runtime on this machine can see: processes in /proc. */
import { listProcesses, readEnvironmentVariable, readProcess } from "../../src/platform/process-table.ts";
import { MARK_VARIABLE } from "../../src/runtime/contract.ts";
import { standsStill } from "../support/stands-still.ts";
import type { RuntimeFixture } from "./runtime-ground.ts";

/** Living processes that carry any mark of this instance. */
export function markedProcesses(instance: string): readonly number[] {
  return listProcesses()
    .filter(
      (row) =>
        row.state !== "Z" && readEnvironmentVariable(row.pid, MARK_VARIABLE)?.startsWith(`${instance}.`) === true,
    )
    .map((row) => row.pid);
}

export function localGround(instance: string): Pick<RuntimeFixture, "census" | "named"> {
  return {
    census() {
      const pids = markedProcesses(instance);
      return { living: pids.length, still: pids.filter(standsStill).length };
    },
    named: (pid) => ({ pid, startTicks: readProcess(pid)?.startTicks ?? "" }),
  };
}
