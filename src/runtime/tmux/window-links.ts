/**
 * Keeps the anchor's links in step with who is listened to. One round at a
 * time: each looks at all panes and links or unlinks what differs, so that no
 * order of comings and goings can leave it wrong.
 */
import { messageOf } from "../../platform/reeve-error.ts";
import type { OutputStreams } from "./output-streams.ts";
import type { Finding } from "./pane-directory.ts";
import { quote } from "./quote.ts";
import { ANCHOR } from "./server-config.ts";

export interface WindowLinks {
  /** Something changed: look again soon. */
  refresh(): void;
  /** Compares what a listing found anyway. */
  compare(finding: Finding): void;
}

export function createWindowLinks(
  streams: OutputStreams,
  look: () => Promise<Finding>,
  log: (message: string, fields?: object) => void,
): WindowLinks {
  let isRunning = false;
  let isStale = false;

  const round = async (): Promise<void> => {
    const { reach, sightings } = await look();
    if (reach.status !== "connected") return;
    for (const { pane } of sightings) {
      const isWanted = streams.isWanted(pane.mark);
      if (isWanted === pane.isLinked) continue;
      const window = `${pane.sessionId}:${pane.windowId}`;
      // unlink-window refuses by itself to remove a window's last link.
      const text = isWanted
        ? `link-window -d -s ${quote(window)} -t ${quote(`=${ANCHOR}:`)}`
        : `unlink-window -t ${quote(`=${ANCHOR}:${pane.windowId}`)}`;
      await reach.connection.request([{ text }]);
    }
  };

  const refresh = (): void => {
    isStale = true;
    if (isRunning) return;
    isRunning = true;
    const rounds = async (): Promise<void> => {
      while (isStale) {
        isStale = false;
        await round();
      }
    };
    rounds()
      .catch((error: unknown) => log("output streams could not be linked yet", { error: messageOf(error) }))
      .finally(() => {
        isRunning = false;
      });
  };

  return {
    refresh,
    compare({ sightings }) {
      if (sightings.some(({ pane }) => streams.isWanted(pane.mark) !== pane.isLinked)) refresh();
    },
  };
}
