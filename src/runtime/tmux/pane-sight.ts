/** What a pane on this machine says about its process. */
import { isDead, readProcess } from "../../platform/process-table.ts";
import { exitOf, hasEnded, type ListedPane } from "../driver/pane.ts";
import type { Sight } from "./pane-place.ts";

/** Null where the process is gone but tmux has not learnt how it ended: ask again shortly. */
export function observePane(pane: ListedPane): Sight | null {
  if (hasEnded(pane)) return exitOf(pane);
  const row = readProcess(pane.pid);
  if (row === null || isDead(row)) return null;
  return {
    status: "running",
    place: { id: pane.id, pid: pane.pid, startTicks: row.startTicks },
    evidence: `tmux pane ${pane.id} runs process ${pane.pid}`,
  };
}

/** For a process that is gone although tmux never learnt its status. */
export function exitedUnseen(pane: ListedPane): Sight {
  const evidence = `tmux pane ${pane.id}: process ${pane.pid} is gone; tmux saw no status`;
  return { status: "exited", code: null, signal: null, evidence };
}
