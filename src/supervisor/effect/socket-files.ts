/**
 * Removes the socket files that a killed agent left behind. Only for a session
 * whose processes are proven gone, and only what is named after its own socket,
 * whose path no other session has.
 */
import { basename, dirname, join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";

export async function removeSocketFiles(
  files: Pick<SessionFiles, "realPath" | "removeLeftover">,
  { socketFiles }: Pick<Agent, "socketFiles">,
  socket: string | null,
): Promise<void> {
  if (socketFiles === undefined || socket === null) return;
  const directory = await files.realPath(dirname(socket));
  if (directory === null) return;
  for (const path of socketFiles(join(directory, basename(socket)))) await files.removeLeftover(path);
}
