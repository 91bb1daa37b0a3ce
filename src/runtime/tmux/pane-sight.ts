/** What a pane on this machine says about its process. */
import { isDead, isUnreadable, readExit, readProcess, runsProgram } from "../../platform/process-table.ts";
import { exitOf, hasEnded, type ListedPane, type PaneExit, signalFrom } from "../driver/pane.ts";
import type { PanePlace, Sight } from "./pane-place.ts";

/**
 * Null where the process is gone but tmux has not learnt how it ended: ask again shortly. One whose start is known already
 * is not read as a whole: nobody else can have its pid before tmux has learnt of its end.
 */
export function observePane(pane: ListedPane, knownStart = ""): Sight | null {
  if (hasEnded(pane)) return exitOf(pane);
  if (knownStart !== "" && runsProgram(pane.pid)) return runningIn(pane, knownStart);
  const row = readProcess(pane.pid);
  return row === null || isDead(row) ? null : runningIn(pane, row.startTicks);
}

function runningIn({ id, pid }: ListedPane, startTicks: string): Sight {
  return { status: "running", place: { id, pid, startTicks }, evidence: `tmux pane ${id} runs process ${pid}` };
}

/**
 * What the kernel alone says while tmux does not answer: that the process of this place has ended, and how where nobody
 * has been told yet. Null where it lives, or where nothing is known of it.
 */
export function endedWithoutTmux(place: PanePlace | null): PaneExit | null {
  // Of a process that had ended when it was to be looked at there is no start time.
  if (place === null || place.startTicks === "0") return null;
  const { id, pid, startTicks } = place;
  try {
    const row = readProcess(pid);
    if (row !== null && row.startTicks === startTicks && !isDead(row)) return null;
    const exit = readExit(pid, startTicks);
    if (exit !== null)
      return exitOf({
        id,
        pid,
        exitCode: exit.code,
        exitSignal: exit.signal === null ? null : signalFrom(`${exit.signal}`),
      });
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
  const evidence = `process ${pid} is gone; tmux does not answer, so how it ended is not known`;
  return { status: "exited", code: null, signal: null, evidence };
}

/** For a process that is gone although tmux never learnt its status. */
export function exitedUnseen(pane: ListedPane): Sight {
  const evidence = `tmux pane ${pane.id}: process ${pane.pid} is gone; tmux saw no status`;
  return { status: "exited", code: null, signal: null, evidence };
}
