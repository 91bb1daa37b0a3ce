import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { systemClock } from "../../platform/clock.ts";
import { childrenOf, isStopped, readProcess, sendSignal } from "../../platform/process-table.ts";
import { membersOf, type Tree } from "./process-tree.ts";
import { releaseTree, suspendTree } from "./suspend-tree.ts";

test("a shell that waits in the kernel for a child that was stopped before its exec is suspended, and goes on", async ({
  skip,
}) => {
  const mark = `suspend-tree.${process.pid}.1`;
  // A shell that starts each program by vfork (dash, Debian's sh) waits inside the kernel until that program runs.
  const shell = spawn("sh", ["-c", "while :; do /bin/true; done"], {
    env: { PATH: "/usr/bin:/bin", REEVE_MARK: mark },
  });
  const tree: Tree = { instance: "suspend-tree", mark, place: null, spared: [], cgroup: { why: "not in this test" } };
  try {
    await once(shell, "spawn");
    const pid = shell.pid ?? 0;
    if (!(await meetsChildBeforeExec(pid))) skip("The shell here does not start programs by vfork.");
    expect(await suspendTree(tree, systemClock)).toMatch(/^2 processes are stopped by signal/);
    expect((await membersOf(tree)).every(isStopped)).toBe(true);
    await releaseTree(tree, systemClock);
    const childThen = childrenOf(pid)[0];
    await eventually("the shell starts programs again", () => childrenOf(pid)[0] !== childThen);
  } finally {
    await eventually("nothing is left", async () => {
      const members = await membersOf(tree);
      for (const { pid, startTicks } of members) sendSignal(pid, startTicks, "SIGKILL");
      return members.length === 0;
    });
  }
});

/** Stops the shell's children, one after another, until one of them holds it in the kernel. */
async function meetsChildBeforeExec(pid: number): Promise<boolean> {
  for (let attempt = 0; attempt < 2_000; attempt += 1) {
    const [child] = childrenOf(pid).flatMap((id) => readProcess(id) ?? []);
    if (child === undefined || !sendSignal(child.pid, child.startTicks, "SIGSTOP")) continue;
    await eventually("it is stopped, or ended before that", () => {
      const state = readProcess(child.pid)?.state ?? "X";
      return state === "T" || state === "Z" || state === "X";
    });
    // One that ended holds nobody; a shell that the kernel holds for another reason is let go at once.
    if (isHeldBy(pid, child.pid)) {
      await systemClock.sleep(20);
      if (isHeldBy(pid, child.pid)) return true;
    }
    sendSignal(child.pid, child.startTicks, "SIGCONT");
  }
  return false;
}

function isHeldBy(pid: number, child: number): boolean {
  return readProcess(child)?.state === "T" && readProcess(pid)?.state === "D";
}
