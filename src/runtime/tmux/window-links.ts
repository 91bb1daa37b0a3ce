/**
 * Links the windows of panes that somebody listens to into the anchor session,
 * and unlinks the others. It works in rounds, one at a time. Each round looks
 * at the panes again and corrects what differs, so the result does not depend
 * on the order in which listeners come and go.
 */
import { messageOf } from "../../platform/reeve-error.ts";
import type { OutputStreams } from "./output-streams.ts";
import type { Finding } from "./pane-directory.ts";
import { quote } from "./quote.ts";
import { ANCHOR } from "./server-config.ts";

export interface WindowLinks {
  /** Somebody began or ceased to listen to it. */
  refresh(mark: string): void;
  /** After a new connection: the anchor may be another one. */
  refreshAll(): void;
  /** Compares what a listing found anyway. */
  compare(finding: Finding): void;
}

export function createWindowLinks(
  streams: OutputStreams,
  look: (mark: string) => Promise<Finding>,
  log: (message: string, fields?: object) => void,
): WindowLinks {
  const stale = new Set<string>();
  let isRunning = false;

  const round = async (mark: string): Promise<void> => {
    const { reach, sightings } = await look(mark);
    if (reach.status !== "connected") return;
    for (const { pane } of sightings) {
      const isWanted = streams.isWanted(pane.mark);
      if (isWanted === pane.isLinked) continue;
      // unlink-window refuses by itself to remove a window's last link.
      const text = isWanted
        ? `link-window -d -s ${quote(`${pane.sessionId}:${pane.windowId}`)} -t ${quote(`=${ANCHOR}:`)}`
        : `unlink-window -t ${quote(`=${ANCHOR}:${pane.windowId}`)}`;
      await reach.connection.request([{ text }]);
    }
  };

  const rounds = async (): Promise<void> => {
    for (const mark of stale) {
      stale.delete(mark);
      await round(mark);
    }
  };

  const refresh = (mark: string): void => {
    stale.add(mark);
    if (isRunning) return;
    isRunning = true;
    rounds()
      .catch((error: unknown) =>
        log("output could not be linked; the next listing tries again", { error: messageOf(error) }),
      )
      .finally(() => {
        isRunning = false;
      });
  };

  return {
    refresh,
    refreshAll: () => streams.wanted().forEach(refresh),
    compare({ sightings }) {
      for (const { pane } of sightings) if (streams.isWanted(pane.mark) !== pane.isLinked) refresh(pane.mark);
    },
  };
}
