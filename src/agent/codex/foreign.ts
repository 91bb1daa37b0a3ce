/**
 * Codex outside Reeve (0.166.0): the rollout and the writer lock that a process
 * holds open tell which thread it has open. An app-server that is not ours may
 * hold several: Codex's own daemon, an editor.
 */
import type { ForeignAgent, ForeignProcess, ForeignReader } from "../foreign.ts";
import { foreignProcess } from "../foreign.ts";
import { threadOfLock, threadOfRollout } from "./thread-id.ts";

export const codexForeign: ForeignReader = {
  places: () => [],
  read: ({ processes }) => processes.flatMap(threadsOf),
};

function threadsOf(process: ForeignProcess): readonly ForeignAgent[] {
  const threads = new Set(process.openFiles.flatMap((path) => threadOfRollout(path) ?? threadOfLock(path) ?? []));
  const isServer = process.argv.includes("app-server");
  const plain = foreignProcess(process);
  const about = isServer
    ? { ...plain, heldBy: "daemon" as const, detail: `process ${process.pid}, an app-server` }
    : plain;
  if (threads.size === 0) return [about];
  return [...threads].map((nativeId) => ({ ...about, nativeId, detail: `${about.detail}, its thread is open` }));
}
