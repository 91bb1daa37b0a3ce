/** A worktree whose making was cut short: by a daemon that was killed, or by git that was. */
import { join } from "node:path";
import { parseStatus } from "../../fleet/git-output.ts";
import type { Clock } from "../../platform/clock.ts";
import { newSessionId } from "../../platform/ids.ts";
import { gitDirectory } from "./look.ts";
import { type Tool, worktreesOf } from "./repository.ts";

/** Git goes on when the daemon that called it is killed. So long after its last process was seen, it is over. */
const PATIENCE_MS = 2_000;
const BETWEEN_MS = 250;

/** Git locks a worktree while it makes it. False: it is locked, and nothing works on it any more. */
export async function whenMade(tool: Tool, path: string, clock: Clock): Promise<boolean> {
  for (let seenAt = clock.monotonic(); clock.monotonic() - seenAt < PATIENCE_MS; await clock.sleep(BETWEEN_MS)) {
    const listed = (await worktreesOf(tool, path)).find((one) => one.path === path);
    if (listed !== undefined && listed.locked !== "initializing") return true;
    const working = [path, await gitDirectory(tool, path)].map((where) => tool.files.processesIn(where));
    if ((await Promise.all(working)).flat().length > 0) seenAt = clock.monotonic();
  }
  return false;
}

/** Whether everything in it is what the commit has: no file that git does not know, none that differs. */
export async function isHollow(tool: Tool, path: string): Promise<boolean> {
  const index = join(await gitDirectory(tool, path), `reeve-index-${newSessionId()}`);
  const options = { environment: { GIT_INDEX_FILE: index } };
  try {
    await tool.text(path, ["read-tree", "HEAD"], options);
    const args = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"];
    const said = await tool.text(path, args, options);
    const { untracked, ignored, unmerged, staged } = parseStatus(said);
    const isMissingOnly = said.split("\0").every((line) => !line.startsWith("1 ") || line.startsWith("1 .D"));
    return isMissingOnly && [untracked, ignored, unmerged, staged].every(({ length }) => length === 0);
  } finally {
    await tool.files.removeLeftover(index);
  }
}
