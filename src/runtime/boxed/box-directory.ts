/**
 * Finds the pane of one incarnation in its box. The box is proven ours by
 * whoever made it, so what its tmux server says of its pane is believed: a
 * program inside can only lie about itself.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import { formatMark, type Presence, type Target } from "../contract.ts";
import { unreachable } from "../driver/control-connection.ts";
import type { OutputStreams } from "../driver/output-streams.ts";
import { type Finding, noTerminal, type PaneDirectory, type PaneSighting } from "../driver/pane-directory.ts";
import { exitOf, hasEnded, paneCommands, parsePanes } from "../driver/pane.ts";
import type { Reach } from "../driver/reach.ts";

export interface BoxSighting extends PaneSighting {
  readonly presence:
    | { readonly status: "running"; readonly evidence: string }
    | Omit<Extract<Presence, { status: "exited" }>, "askedAt">;
}

export function createBoxDirectory(parts: {
  readonly instance: string;
  readonly target: Target;
  readonly reach: () => Promise<Reach>;
  readonly streams: OutputStreams;
}): PaneDirectory<BoxSighting> {
  const { instance, target, streams } = parts;
  const mark = formatMark(instance, target);
  const command = paneCommands(instance).all();

  const look = async (): Promise<Finding<BoxSighting>> => {
    for (let attempt = 1; ; attempt += 1) {
      const reach = await parts.reach();
      if (reach.status !== "connected") return { reach, sightings: [] };
      try {
        const { error, replies } = await reach.connection.request([command]);
        if (error !== null) throw unreachable(error);
        return { reach, sightings: sightingsIn(replies[0]?.lines ?? []) };
      } catch (error) {
        if (!(error instanceof ReeveError) || error.code !== "runtime-unreachable") throw error;
        const evidence = String(error.details["reason"]);
        // A connection that was lost may be another one's now; after a time-out a second try would only double the wait.
        if (attempt === 2 || error.details["timedOut"] === true)
          return { reach: { status: "unreachable", evidence }, sightings: [] };
      }
    }
  };

  const sightingsIn = (lines: readonly string[]): readonly BoxSighting[] =>
    parsePanes(lines)
      .filter(({ claim }) => claim === mark)
      .map((listed) => {
        const pane = { ...listed, mark, owner: target };
        streams.assign(pane.id, pane.windowId, mark);
        const evidence = `tmux pane ${pane.id} runs process ${pane.pid}`;
        return { pane, presence: hasEnded(pane) ? exitOf(pane) : { status: "running", evidence } };
      });

  return {
    all: look,
    ofSession: look,
    one: look,
    async require() {
      const { reach, sightings } = await look();
      if (reach.status === "unreachable") throw unreachable(reach.evidence);
      const [sighting] = sightings;
      if (reach.status === "connected" && sighting !== undefined) return { ...sighting, connected: reach };
      throw noTerminal(target);
    },
  };
}
