/** What the supervisor knows of a session that is not in its record. */
import type { Agent } from "../agent/contract.ts";
import type { PlaceView } from "../session/session.ts";
import type { LastWord } from "./attention/readings.ts";

export interface About {
  readonly wait: Agent["wait"];
  /** Why it can be neither written to nor started again; null where nothing is in the way. */
  readonly impediment: string | null;
  /** What people are shown of where it runs; null while it has no place. */
  readonly place: PlaceView | null;
}

export interface Testimony {
  readonly lastWords: readonly LastWord[];
  /** The state of the agent's own protocol; null where it has none. */
  readonly channel: string | null;
  /** What keeps a message from being typed. */
  readonly obstacle: { readonly messageId: string; readonly why: string } | null;
}
