/** The cgroups of a home, as its daemon remembers them: none may be left when a test is over. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { processesIn, removeCgroup, subgroupsOf } from "../../src/platform/cgroup.ts";

/** Directories that are still there. */
export function cgroupsLeft(runDir: string): readonly string[] {
  return remembered(runDir).flatMap((group) => {
    const below = subgroupsOf(group);
    return below === null ? [] : [group, ...below.map((name) => join(group, name))];
  });
}

/** For what was killed rather than ended: also what hides there is killed. */
export async function removeCgroups(runDir: string): Promise<void> {
  for (const group of remembered(runDir)) {
    for (let round = 0; round < 200 && !removeCgroup(group); round += 1) {
      for (const pid of processesIn(group) ?? []) killIfThere(pid);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

function remembered(runDir: string): readonly string[] {
  try {
    return JSON.parse(readFileSync(join(runDir, "cgroups.json"), "utf8")) as string[];
  } catch {
    return [];
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone meanwhile
  }
}
