/**
 * Which pane is ours. Anyone with the server's socket can put our option on
 * any pane, so what the option says is only a claim; a pane is ours by the
 * mark in its process. What was proven once holds as long as that process, so
 * a look costs no more than one without proof. A dead pane has no process to
 * ask: it is ours if it was proven while it lived, or if tmux itself started
 * it with our wrapper and the mark that is claimed.
 */
import { readCommandLine } from "../../platform/process-table.ts";
import { type Observation, parseMark } from "../contract.ts";
import { exitedUnseen, hasEnded, type ListedPane, observePane, type Pane } from "./pane.ts";
import { markOf } from "./process-mark.ts";

export interface Sighting {
  readonly pane: Pane;
  readonly observation: Observation;
}

/** `not-ours`; or `undecided`: nothing follows yet, look again. */
export type Judgement = Sighting | "not-ours" | "undecided";

export interface PaneProofs {
  judge(pane: ListedPane, serverPid: number): Judgement;
  /** For a process that is gone although tmux never learnt how, when there was time enough to. */
  judgeLost(pane: ListedPane): Judgement;
  /** Started by ourselves just now. */
  note(paneId: string, pid: number, startTicks: string, mark: string): void;
  /** Pane ids start anew with each server. */
  forgetAll(): void;
  keepOnly(panes: readonly ListedPane[]): void;
}

interface Proof {
  readonly startTicks: string;
  /** Null: that process carries none. */
  readonly mark: string | null;
}

export function createPaneProofs(instance: string): PaneProofs {
  const proofs = new Map<string, Proof>();

  const sighting = (pane: ListedPane, mark: string | null, observation: Observation): Judgement => {
    const owner = mark === null ? null : parseMark(instance, mark);
    return mark === null || owner === null ? "not-ours" : { pane: { ...pane, mark, owner }, observation };
  };

  /** Undefined: it may not have become the program yet that it was forked for. */
  const markIn = (pane: ListedPane, serverPid: number): string | null | undefined => {
    const mark = markOf(pane.pid);
    if (mark !== null || pane.claim === "") return mark;
    const command = readCommandLine(pane.pid);
    if (command === "" || command === readCommandLine(serverPid)) return undefined;
    return markOf(pane.pid); // read again: it may have become that program in between
  };

  const deadMark = (pane: ListedPane): string | null => {
    const proof = proofs.get(keyOf(pane));
    if (proof !== undefined) return proof.mark;
    if (!pane.isStartedSo) return null;
    proofs.set(keyOf(pane), { startTicks: "", mark: pane.claim });
    return pane.claim;
  };

  return {
    judge(pane, serverPid) {
      const observation = observePane(pane);
      if (observation === null) return deadMark(pane) === null ? "not-ours" : "undecided";
      if (observation.status !== "running") return sighting(pane, deadMark(pane), observation);
      const { startTicks } = observation.place;
      const known = proofs.get(keyOf(pane));
      if (known?.startTicks === startTicks) return sighting(pane, known.mark, observation);
      const mark = markIn(pane, serverPid);
      if (mark === undefined) return "undecided";
      // Without a claim nobody asks for it again and again but the anchor's own pane.
      if (mark !== null || pane.claim !== "") proofs.set(keyOf(pane), { startTicks, mark });
      return sighting(pane, mark, observation);
    },
    judgeLost(pane) {
      if (hasEnded(pane) || observePane(pane) !== null) return "undecided";
      return sighting(pane, deadMark(pane), exitedUnseen(pane));
    },
    note: (paneId, pid, startTicks, mark) => void proofs.set(keyOf({ id: paneId, pid }), { startTicks, mark }),
    forgetAll: () => proofs.clear(),
    keepOnly(panes) {
      const kept = new Set(panes.map(keyOf));
      for (const key of proofs.keys()) if (!kept.has(key)) proofs.delete(key);
    },
  };
}

function keyOf({ id, pid }: Pick<ListedPane, "id" | "pid">): string {
  return `${id} ${pid}`;
}
