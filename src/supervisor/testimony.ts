/** What the supervisor knows of a session that is not in its record. */
import type { Agent } from "../agent/contract.ts";
import type { Parked } from "../fleet/parked.ts";
import type { WorkItem } from "../fleet/work.ts";
import type { PlaceView } from "../session/session.ts";
import type { GitStatus } from "./attention/checkout-status.ts";
import type { LastWord } from "./attention/readings.ts";

export interface About {
  readonly wait: Agent["wait"];
  /** Nothing of its first turn may be seen before that is over. */
  readonly hidesFirstTurn: boolean;
  /** Why it can be neither written to nor started again; null where nothing is in the way. */
  readonly impediment: string | null;
  /** What people are shown of where it runs; null while it has no place. */
  readonly place: PlaceView | null;
  /** What git said of its checkout last; null until it was asked. */
  readonly git: GitStatus | null;
  /** What it has to wait for before anything can be begun in it; null where it may go. */
  readonly parked: Parked | null;
  /** The item of work that it works on; null where it has none. */
  readonly work: Pick<WorkItem, "id" | "title"> | null;
}

export interface Testimony {
  readonly lastWords: readonly LastWord[];
  /** What looks at its processes showed, a sentence each. */
  readonly signs: readonly string[];
  /** The state of the agent's own protocol; null where it has none. */
  readonly channel: string | null;
  /** What cannot be kept of it now, a sentence each; with `persist_session` only. */
  readonly unkept: readonly string[];
  /** What keeps a message from being typed. */
  readonly obstacle: { readonly messageId: string; readonly why: string } | null;
}
