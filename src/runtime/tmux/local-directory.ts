/**
 * Finds our panes on the server and says what became of them. Owns the walk
 * from "which session" to "which pane, and is its process alive". It changes
 * only one thing: if somebody killed a session by hand and only our own link
 * keeps its pane alive, it removes that link.
 */
import type { Clock } from "../../platform/clock.ts";
import { isUnreadable } from "../../platform/process-table.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { formatMark, type Target } from "../contract.ts";
import { unreachable, type ControlCommand, type ControlConnection } from "../driver/control-connection.ts";
import type { OutputStreams } from "../driver/output-streams.ts";
import { isStartedSo, type ListedPane, paneCommands, parsePanes, startCommand } from "../driver/pane.ts";
import { type Connected, type Finding, noTerminal, type PaneDirectory } from "../driver/pane-directory.ts";
import type { Judgement, PaneProofs, Sighting } from "./pane-proof.ts";
import type { Reach } from "../driver/reach.ts";
import type { ServerLink } from "./server-link.ts";

/** tmux reaps within a millisecond; half a second covers a machine under load. */
const REAP_LOOKS = 50;
const REAP_LOOK_MS = 10;

export interface DirectoryParts {
  readonly instance: string;
  /** By whose path our panes are started. */
  readonly wrapper: string;
  readonly link: ServerLink;
  readonly streams: OutputStreams;
  readonly proofs: PaneProofs;
  readonly clock: Clock;
}

export function createLocalDirectory({
  instance,
  wrapper,
  link,
  streams,
  proofs,
  clock,
}: DirectoryParts): PaneDirectory<Sighting> {
  const commands = paneCommands(instance);

  const ask = async (
    command: ControlCommand,
    onListed?: (panes: readonly ListedPane[]) => void,
  ): Promise<Finding<Sighting>> => {
    for (let attempt = 1; ; attempt += 1) {
      const reach = await link.reach();
      if (reach.status !== "connected") return { reach, sightings: [] };
      try {
        return { reach, sightings: await sight(reach, command, onListed) };
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

  const sight = async (
    { connection, server }: Connected,
    command: ControlCommand,
    onListed?: (panes: readonly ListedPane[]) => void,
  ): Promise<readonly Sighting[]> => {
    for (let look = 1; ; look += 1) {
      const panes = await list(connection, command);
      onListed?.(panes);
      const isLast = look === REAP_LOOKS;
      const judgements = await Promise.all(
        panes.map(async (pane) => {
          const judgement = await judged(connection, pane, server.pid);
          return isLast && judgement === "undecided" ? proofs.judgeLost(pane) : judgement;
        }),
      );
      const sightings = judgements.filter((judgement) => typeof judgement === "object");
      for (const { pane } of sightings) streams.assign(pane.id, pane.windowId, pane.mark);
      if (!judgements.includes("undecided")) return sightings;
      if (isLast) throw unreachable("a process in a pane has not begun to run its program yet");
      // tmux can miss the end of a process that was killed from outside (wrapper.ts says how).
      link.remindOfChildren();
      await clock.sleep(REAP_LOOK_MS);
    }
  };

  const judged = async (connection: ControlConnection, pane: ListedPane, serverPid: number): Promise<Judgement> => {
    const judgement = proofs.judge(pane, serverPid);
    if (judgement !== "unproven") return judgement;
    const answer = await connection.request([startCommand(pane.id, wrapper, pane.claim)]);
    proofs.noteDead(pane, isStartedSo(answer));
    return proofs.judge(pane, serverPid);
  };

  const list = async (connection: ControlConnection, command: ControlCommand): Promise<readonly ListedPane[]> => {
    const answer = await connection.request([command]);
    if (answer.error === null) return parsePanes(answer.replies[0]?.lines ?? []);
    // Only this refusal says that there is no such pane; any other says nothing about it.
    if (answer.error.startsWith("can't find ")) return [];
    throw unreachable(answer.error);
  };

  const letGo = (connection: ControlConnection, sightings: readonly Sighting[]): void => {
    for (const { pane } of sightings) {
      if (pane.isOrphan) connection.request([{ text: `kill-pane -t ${pane.id}` }]).catch(() => {}); // gone with the connection
    }
  };

  const all = async (): Promise<Finding<Sighting>> => {
    const finding = await ask(commands.all(), proofs.keepOnly);
    if (finding.reach.status === "connected") letGo(finding.reach.connection, finding.sightings);
    return finding;
  };

  /** The short questions first. That none of them finds it proves nothing yet: they go by what anyone can change. */
  const one = async (target: Target): Promise<Finding<Sighting>> => {
    const mark = formatMark(instance, target);
    const known = streams.paneOf(mark);
    const questions = [
      ...(known === undefined ? [] : [() => ask(commands.one(known))]),
      () => ask(commands.ofSession(target.sessionId)),
    ];
    for (const question of questions) {
      const { reach, sightings } = await question();
      const found = sightings.filter(({ pane }) => pane.mark === mark);
      if (found.length > 0 || reach.status !== "connected") return { reach, sightings: found };
    }
    const { reach, sightings } = await all();
    return { reach, sightings: sightings.filter(({ pane }) => pane.mark === mark) };
  };

  return {
    all,
    async ofSession(sessionId) {
      const { reach, sightings } = await ask(commands.ofSession(sessionId));
      return { reach, sightings: sightings.filter(({ pane }) => pane.owner.sessionId === sessionId) };
    },
    one,
    async require(target) {
      const { reach, sightings } = await one(target);
      if (reach.status === "unreachable") throw unreachable(reach.evidence);
      const [sighting] = sightings;
      if (reach.status === "connected" && sighting !== undefined) return { ...sighting, connected: reach };
      throw noTerminal(target);
    },
  };
}

function notLookedAt(evidence: string): Finding<Sighting> {
  return { reach: { status: "unreachable", evidence }, sightings: [] };
}

export function absentEvidence(reach: Reach, target: Target): string {
  if (reach.status !== "connected") return reach.evidence;
  return `the tmux server (process ${reach.server.pid}) has no pane for session ${target.sessionId} (start ${target.incarnation})`;
}
