/**
 * Decides which panes are ours. Anyone with the server's socket can set our
 * option on any pane, so the option is only a claim. The mark in the
 * environment of the pane's process is the proof. A proof holds as long as that
 * process lives, so it costs nothing at later looks; a new daemon finds the
 * earlier proofs in the records. A dead pane has no process to ask: it is ours
 * if it was proven while it lived, if the record names it, or if tmux itself
 * started it with our wrapper and the mark that is claimed.
 */
import { readCommandLine } from "../../platform/process-table.ts";
import type { Place } from "../../session/session.ts";
import { parseMark, type Target } from "../contract.ts";
import { hasEnded, type ListedPane, type Pane } from "../driver/pane.ts";
import { readPlace, type Sight } from "./pane-place.ts";
import { exitedUnseen, observePane } from "./pane-sight.ts";
import { markOf } from "./process-mark.ts";

export interface Sighting {
  readonly pane: Pane;
  readonly presence: Sight;
}

/** `not-ours`; `undecided`: nothing follows yet, look again; or `unproven`: it is dead, and tmux must say how it started it. */
export type Judgement = Sighting | "not-ours" | "undecided" | "unproven";

export interface PaneProofs {
  judge(pane: ListedPane, serverPid: number): Judgement;
  /** For a process that is gone although tmux never learnt how, when there was time enough to. */
  judgeLost(pane: ListedPane): Judgement;
  /** Started by ourselves just now. */
  note(paneId: string, pid: number, startTicks: string, mark: string): void;
  /** What tmux says of one that is dead and unproven. */
  noteDead(pane: ListedPane, isStartedSo: boolean): void;
  /** Pane ids start anew with each server. */
  forgetAll(): void;
  keepOnly(panes: readonly ListedPane[]): void;
}

interface Proof {
  readonly startTicks: string;
  /** Null: that process carries none. */
  readonly mark: string | null;
  /** Whose that mark is; null: none of ours. Read out of it once, since every look needs it. */
  readonly owner: Target | null;
}

const NOBODYS: Proof = { startTicks: "", mark: null, owner: null };

/** Where the record says that this process is; null where it says nothing. */
export type RecordedPlace = (target: Target) => Place | null;

export function createPaneProofs(instance: string, recordedPlace: RecordedPlace = () => null): PaneProofs {
  const proofs = new Map<string, Proof>();

  const proofOf = (startTicks: string, mark: string | null): Proof => ({
    startTicks,
    mark,
    owner: mark === null ? null : parseMark(instance, mark),
  });

  const sighting = (pane: ListedPane, proof: Proof, presence: Sight): Judgement => {
    if (proof.mark === null || proof.owner === null) return "not-ours";
    return { pane: { ...pane, mark: proof.mark, owner: proof.owner }, presence };
  };

  /** Undefined: it may not have become the program yet that it was forked for. */
  const markIn = (pane: ListedPane, serverPid: number): string | null | undefined => {
    const mark = markOf(pane.pid);
    if (mark !== null) return mark;
    const command = readCommandLine(pane.pid);
    if (command === "" || command === readCommandLine(serverPid)) return undefined;
    return markOf(pane.pid); // read again: it may have become that program in between
  };

  /** A place is recorded only after its mark was seen in it, so that very process need not be asked again. */
  const recordedProof = (pane: ListedPane, startTicks: string): Proof | null => {
    const proof = proofOf(startTicks, pane.claim);
    const place = proof.owner === null ? null : readPlace(recordedPlace(proof.owner));
    return place?.id === pane.id && place.pid === pane.pid && place.startTicks === startTicks ? proof : null;
  };

  /** Null where only tmux can tell. */
  const deadProof = (pane: ListedPane): Proof | null => {
    const known = proofs.get(keyOf(pane)) ?? proofs.get(claimKeyOf(pane));
    if (known !== undefined) return known;
    const claimed = proofOf("", pane.claim);
    if (claimed.owner === null) return NOBODYS;
    const place = readPlace(recordedPlace(claimed.owner));
    if (place?.id !== pane.id || place.pid !== pane.pid) return null;
    proofs.set(keyOf(pane), claimed);
    return claimed;
  };

  return {
    judge(pane, serverPid) {
      const known = proofs.get(keyOf(pane));
      const presence = observePane(pane, known?.startTicks);
      if (presence?.status !== "running") {
        const proof = deadProof(pane);
        if (proof === null) return "unproven";
        if (presence !== null) return sighting(pane, proof, presence);
        return proof.mark === null ? "not-ours" : "undecided";
      }
      const { startTicks } = presence.place;
      if (known?.startTicks === startTicks) return sighting(pane, known, presence);
      const recorded = recordedProof(pane, startTicks);
      if (recorded !== null) {
        proofs.set(keyOf(pane), recorded);
        return sighting(pane, recorded, presence);
      }
      const mark = markIn(pane, serverPid);
      if (mark === undefined) return "undecided";
      // Without a claim nobody asks for it again and again but the anchor's own pane.
      const proof = proofOf(startTicks, mark);
      if (mark !== null || pane.claim !== "") proofs.set(keyOf(pane), proof);
      return sighting(pane, proof, presence);
    },
    judgeLost(pane) {
      if (hasEnded(pane) || observePane(pane) !== null) return "undecided";
      return sighting(pane, deadProof(pane) ?? NOBODYS, exitedUnseen(pane));
    },
    noteDead(pane, isStartedSo) {
      if (isStartedSo) proofs.set(keyOf(pane), proofOf("", pane.claim));
      else proofs.set(claimKeyOf(pane), NOBODYS);
    },
    note: (paneId, pid, startTicks, mark) => void proofs.set(keyOf({ id: paneId, pid }), proofOf(startTicks, mark)),
    forgetAll: () => proofs.clear(),
    keepOnly(panes) {
      if (proofs.size < panes.length) return; // at most a few too many are kept
      const kept = new Set(panes.flatMap((pane) => [keyOf(pane), claimKeyOf(pane)]));
      for (const key of proofs.keys()) if (!kept.has(key)) proofs.delete(key);
    },
  };
}

function keyOf({ id, pid }: Pick<ListedPane, "id" | "pid">): string {
  return `${id} ${pid}`;
}

/** Another claim is another question. */
function claimKeyOf(pane: ListedPane): string {
  return `${keyOf(pane)} ${pane.claim}`;
}
