/** How panes of ours are found on a server: what the driver needs to know of each kind of ground. */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Target } from "../contract.ts";
import type { Pane } from "./pane.ts";
import type { Reach } from "./reach.ts";

export type Connected = Extract<Reach, { status: "connected" }>;

/** A pane of ours, and what it says of its process. */
export interface PaneSighting {
  readonly pane: Pane;
  readonly presence: { readonly status: "running" | "exited" };
}

export interface Finding<S extends PaneSighting = PaneSighting> {
  readonly reach: Reach;
  readonly sightings: readonly S[];
}

export interface PaneDirectory<S extends PaneSighting = PaneSighting> {
  /** Every pane of ours; no sightings unless connected. */
  all(): Promise<Finding<S>>;
  /** Every incarnation of one session. */
  ofSession(sessionId: string): Promise<Finding<S>>;
  /** That one incarnation, in one short question where its pane is known. */
  one(target: Target): Promise<Finding<S>>;
  /** Like `one`, for callers that need the pane: throws where there is none. */
  require(target: Target): Promise<S & { readonly connected: Connected }>;
}

export function noTerminal({ sessionId }: Target): ReeveError {
  return new ReeveError({
    code: "place-absent",
    kind: "conflict",
    message: `Session ${sessionId} has no terminal any more; restart it to get a new one.`,
  });
}
