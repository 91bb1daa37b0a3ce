/**
 * What a place is for this runtime: a pane, and the process that tmux started
 * in it. `pid` and `startTicks` together identify that process, because a
 * reused pid has another start time. Only this runtime reads these fields.
 */
import type { Place, PlaceView } from "../../session/session.ts";
import type { PaneExit } from "../driver/pane.ts";

// An interface would not be assignable to `Place`.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type PanePlace = {
  readonly id: string;
  readonly pid: number;
  readonly startTicks: string;
};

/** What a look at the panes says, before it is known when it was asked for. */
export type Sight = { readonly status: "running"; readonly place: PanePlace; readonly evidence: string } | PaneExit;

/** Null for one that another runtime made, or that somebody forged. */
export function readPlace(place: Place | null): PanePlace | null {
  if (place === null) return null;
  const { id, pid, startTicks } = place;
  if (typeof id !== "string" || typeof pid !== "number" || typeof startTicks !== "string") return null;
  return Number.isSafeInteger(pid) && pid > 0 ? { id, pid, startTicks } : null;
}

export function describePlace(place: Place): PlaceView {
  const pane = readPlace(place);
  if (pane === null) return { text: "a terminal that this version does not know", id: null, pid: null };
  return { text: `process ${pane.pid}`, id: pane.id, pid: pane.pid };
}
