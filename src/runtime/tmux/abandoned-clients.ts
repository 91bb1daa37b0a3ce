/**
 * Ends the control clients of daemons that were killed. Usually they end with
 * the daemon, but one that had output in flight stays: tmux waits for its pipe
 * to drain, for ever (seen in 3.3a), and a later kill-server waits with it.
 * There is one daemon per home, so every other client with exactly our command
 * line is such a leftover.
 */
import { readCommandLine, readProcess, sendSignal } from "../../platform/process-table.ts";
import type { ControlConnection } from "./control-connection.ts";
import { attachArguments, type ServerPaths } from "./server-config.ts";

export async function endAbandonedClients(connection: ControlConnection, paths: ServerPaths): Promise<number> {
  const { replies } = await connection.request([{ text: 'list-clients -F "client #{client_pid}"' }]);
  const ours = attachArguments(paths).join(" ");
  let ended = 0;
  for (const line of replies[0]?.lines ?? []) {
    const pid = Number(/^client (\d+)$/.exec(line)?.[1]);
    if (!Number.isInteger(pid) || pid === connection.pid || readCommandLine(pid) !== ours) continue;
    const row = readProcess(pid);
    if (row !== null && sendSignal(pid, row.startTicks, "SIGTERM")) ended += 1;
  }
  return ended;
}
