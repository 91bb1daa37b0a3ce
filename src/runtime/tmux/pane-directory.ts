/**
 * Finds our panes on the server and says what became of them. Owns the walk
 * from "which session" to "which pane, and is its process alive". Changes
 * nothing but one thing: a pane whose session someone killed by hand, and that
 * only our own link keeps alive, is let go.
 */
import type { Clock } from "../../platform/clock.ts";
import { isUnreadable } from "../../platform/process-table.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { formatMark, type Observation, type Target } from "../contract.ts";
import { unreachable, type ControlCommand, type ControlConnection } from "./control-connection.ts";
import type { OutputStreams } from "./output-streams.ts";
import {
  exitedUnseen,
  listPanesCommand,
  listSessionPanesCommand,
  observePane,
  type Pane,
  parsePanes,
  showPaneCommand,
} from "./pane.ts";
import type { Reach, ServerLink } from "./server-link.ts";

export interface Sighting {
  readonly pane: Pane;
  readonly observation: Observation;
}

export type Connected = Extract<Reach, { status: "connected" }>;

export type Finding = { readonly reach: Reach; readonly sightings: readonly Sighting[] };

export interface PaneDirectory {
  /** Every pane of ours; no sightings unless connected. */
  all(): Promise<Finding>;
  /** Every incarnation of one session. */
  ofSession(sessionId: string): Promise<Finding>;
  /** That one incarnation, in one short question where its pane is known. */
  one(target: Target): Promise<Finding>;
  /** Like `one`, for callers that need the pane: throws where there is none. */
  require(target: Target): Promise<Sighting & { readonly connected: Connected }>;
}

/** tmux reaps within a millisecond; half a second covers a machine under load. */
const REAP_LOOKS = 50;
const REAP_LOOK_MS = 10;

export function createPaneDirectory(
  instance: string,
  link: ServerLink,
  streams: OutputStreams,
  clock: Clock,
): PaneDirectory {
  const ask = async (command: ControlCommand): Promise<Finding> => {
    for (let attempt = 1; ; attempt += 1) {
      const reach = await link.reach();
      if (reach.status !== "connected") return { reach, sightings: [] };
      try {
        return { reach, sightings: await sight(reach.connection, command) };
      } catch (error) {
        // Of one process nothing could be learnt, so nothing is said about any: it may be the one that is asked for.
        if (isUnreadable(error)) return notLookedAt(String(error.details["reason"]));
        if (!(error instanceof ReeveError) || error.code !== "runtime-unreachable") throw error;
        // Lost while asking: a second try says whether the server went or only the connection.
        // After a time-out it would only double the wait.
        const evidence = String(error.details["reason"]);
        if (attempt === 2 || error.details["timedOut"] === true) return notLookedAt(evidence);
      }
    }
  };

  const sight = async (connection: ControlConnection, command: ControlCommand): Promise<readonly Sighting[]> => {
    for (let look = 1; ; look += 1) {
      const answer = await connection.request([command]);
      // Only this refusal says that there is no such pane; any other says nothing about it.
      if (answer.error !== null && !answer.error.startsWith("can't find ")) throw unreachable(answer.error);
      const panes = answer.error === null ? parsePanes(answer.replies[0]?.lines ?? [], instance) : [];
      for (const pane of panes) streams.assign(pane.id, pane.windowId, pane.mark);
      const observations = panes.map(observePane);
      if (!observations.includes(null) || look === REAP_LOOKS) {
        return panes.map((pane, index) => ({ pane, observation: observations[index] ?? exitedUnseen(pane) }));
      }
      // tmux can miss the end of a process that was killed from outside (wrapper.ts says how).
      link.remindOfChildren();
      await clock.sleep(REAP_LOOK_MS);
    }
  };

  const letGo = (connection: ControlConnection, sightings: readonly Sighting[]): void => {
    for (const { pane } of sightings) {
      if (pane.isOrphan) connection.request([{ text: `kill-pane -t ${pane.id}` }]).catch(() => {}); // gone with the connection
    }
  };

  const one = async (target: Target): Promise<Finding> => {
    const mark = formatMark(instance, target);
    const known = streams.paneOf(mark);
    if (known !== undefined) {
      const finding = await ask(showPaneCommand(known));
      if (finding.sightings[0]?.pane.mark === mark || finding.reach.status !== "connected") return finding;
    }
    const { reach, sightings } = await ask(listSessionPanesCommand(instance, target.sessionId));
    return { reach, sightings: sightings.filter(({ pane }) => pane.mark === mark) };
  };

  return {
    async all() {
      const finding = await ask(listPanesCommand());
      if (finding.reach.status === "connected") letGo(finding.reach.connection, finding.sightings);
      return finding;
    },
    async ofSession(sessionId) {
      const { reach, sightings } = await ask(listSessionPanesCommand(instance, sessionId));
      return { reach, sightings: sightings.filter(({ pane }) => pane.owner.sessionId === sessionId) };
    },
    one,
    async require(target) {
      const { reach, sightings } = await one(target);
      if (reach.status === "unreachable") throw unreachable(reach.evidence);
      const [sighting] = sightings;
      if (reach.status === "connected" && sighting !== undefined) return { ...sighting, connected: reach };
      throw new ReeveError({
        code: "place-absent",
        kind: "conflict",
        message: `Session ${target.sessionId} has no terminal any more; restart it to get a new one.`,
      });
    },
  };
}

function notLookedAt(evidence: string): Finding {
  return { reach: { status: "unreachable", evidence }, sightings: [] };
}

export function absentEvidence(reach: Reach, target: Target): string {
  if (reach.status !== "connected") return reach.evidence;
  return `the tmux server (process ${reach.server.pid}) has no pane for ${target.sessionId}, incarnation ${target.incarnation}`;
}
