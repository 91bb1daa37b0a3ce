/**
 * Ends the control clients of daemons that were killed. Usually they end with
 * the daemon, but one that had output in flight stays: tmux waits for its pipe
 * to drain, for ever (seen in 3.3a), and a later kill-server waits with it.
 * There is one daemon per home, so every other client with exactly our command
 * line is such a leftover.
 */
import { isDead, listProcesses, readCommandLine, readProcess, sendSignal } from "../../platform/process-table.ts";
import type { ControlConnection } from "../driver/control-connection.ts";
import { attachArguments, type ServerPaths } from "../driver/server-config.ts";

export async function endAbandonedClients(connection: ControlConnection, paths: ServerPaths): Promise<number> {
  const { replies } = await connection.request([{ text: 'list-clients -F "client #{client_pid}"' }]);
  const pids = (replies[0]?.lines ?? []).map((line) => Number(/^client (\d+)$/.exec(line)?.[1]));
  return endClients(
    pids.filter((pid) => Number.isInteger(pid) && pid !== connection.pid),
    paths,
  );
}

/**
 * The same for a server that does not tell who its clients are: one that was
 * told to end, and waits for such a client, hangs up on everybody else.
 * Called while this daemon has no client of its own.
 */
export function endClientsInTheWay(paths: ServerPaths): number {
  const pids = listProcesses()
    .filter((row) => !isDead(row))
    .map(({ pid }) => pid);
  return endClients(pids, paths);
}

function endClients(pids: readonly number[], paths: ServerPaths): number {
  const ours = attachArguments(paths).join(" ");
  let ended = 0;
  for (const pid of pids) {
    if (readCommandLine(pid) !== ours) continue;
    const row = readProcess(pid);
    if (row !== null && sendSignal(pid, row.startTicks, "SIGTERM")) ended += 1;
  }
  return ended;
}
