/** What is left of a session after its end was told: processes with its mark, its pane, a cgroup with its name. */
import { runProgram } from "../support/test-home.ts";
import type { TestHome } from "../support/test-home.ts";
import type { PaneKeys } from "./pane-keys.ts";

export async function leftBehind(home: TestHome, sessionId: string, pane: PaneKeys): Promise<readonly string[]> {
  const { stdout } = await runProgram(
    "find",
    ["/sys/fs/cgroup", "-type", "d", "-name", `*${sessionId}*`],
    process.env as Record<string, string>,
  );
  return [
    ...home.marked(sessionId).map(({ pid, state }) => `process ${pid} (${state}) of the ended session`),
    ...((await pane.isThere()) ? ["the pane of the ended session"] : []),
    ...stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => `the cgroup ${line} of the ended session`),
  ];
}
