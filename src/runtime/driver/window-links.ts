/**
 * Links the windows of panes that somebody listens to into the anchor session,
 * and unlinks the others. It works in rounds, one at a time. Each round looks
 * at the panes again and corrects what differs, so the result does not depend
 * on the order in which listeners come and go.
 *
 * tmux (3.3a to 3.7) remembers how far a control client has read a pane, also
 * while the pane's window is not in the client's session: it would keep all that
 * is printed meanwhile, and tell the client of it later, or too little of what
 * comes then. A pane that is paused is not kept, and goes on with what is new.
 */
import { messageOf } from "../../platform/reeve-error.ts";
import type { ControlCommand } from "./control-connection.ts";
import type { OutputStreams } from "./output-streams.ts";
import type { Pane } from "./pane.ts";
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
      await reach.connection.request(isWanted ? linking(pane) : unlinking(pane));
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

/** In one line of commands, so that nothing is printed in between. */
function linking({ id, sessionId, windowId }: Pane): readonly ControlCommand[] {
  return [
    { text: `link-window -d -s ${quote(`${sessionId}:${windowId}`)} -t ${quote(`=${ANCHOR}:`)}` },
    { text: continuePane(id) },
  ];
}

/** `unlink-window` refuses by itself to remove a window's last link. */
function unlinking({ id, windowId }: Pane): readonly ControlCommand[] {
  return [
    { text: `refresh-client -A ${quote(`${id}:pause`)}` },
    { text: `unlink-window -t ${quote(`=${ANCHOR}:${windowId}`)}` },
  ];
}

/** Changes nothing where it is not paused. */
export function continuePane(paneId: string): string {
  return `refresh-client -A ${quote(`${paneId}:continue`)}`;
}
