/**
 * Puts a session's process into a pane and removes the pane again. It decides
 * whether to make a new tmux session or use the one that is there, and never
 * starts a second process while an older one runs. It does one thing at a time
 * per session.
 */
import { failpoint } from "../../platform/failpoint.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { readProcess } from "../../platform/process-table.ts";
import { type Created, type CreateRequest, formatMark, type Target } from "../contract.ts";
import { unreachable, type Answer, type ControlConnection } from "../driver/control-connection.ts";
import {
  checkRequest,
  environmentLost,
  newSessionCommands,
  notPlaced,
  type PanePlan,
  parsePlaced,
  replacePaneCommands,
} from "../driver/create-pane.ts";
import type { OutputStreams } from "../driver/output-streams.ts";
import type { PaneDirectory } from "../driver/pane-directory.ts";
import type { PaneProofs, Sighting } from "./pane-proof.ts";
import type { ServerLink } from "./server-link.ts";
import type { SessionCgroups } from "./session-cgroups.ts";
import { inRunDirectory } from "./server-start.ts";
import { ensureWrapper } from "./wrapper.ts";

export interface Placement {
  create(request: CreateRequest): Promise<Created>;
  retainsEnvironment(sessionId: string): Promise<boolean>;
  destroy(target: Target): Promise<void>;
}

export interface PlacementParts {
  readonly instance: string;
  readonly runDir: string;
  readonly link: ServerLink;
  readonly directory: PaneDirectory<Sighting>;
  readonly streams: OutputStreams;
  readonly proofs: PaneProofs;
  readonly cgroups: SessionCgroups;
  /** The kernel says that its process is gone. */
  readonly hasEndedUnasked: (target: Target) => boolean;
}

export function createPlacement({
  instance,
  runDir,
  link,
  directory,
  streams,
  proofs,
  cgroups,
  hasEndedUnasked,
}: PlacementParts): Placement {
  /** Work on one session waits for the work on it that came before. */
  const queue = createKeyedQueue();

  const create = async (request: CreateRequest): Promise<Created> => {
    const { reach, sightings } = await directory.ofSession(request.sessionId);
    if (reach.status === "unreachable") throw unreachable(reach.evidence);
    const same = sightings.find(({ pane }) => pane.owner.incarnation === request.incarnation);
    if (same !== undefined) return found(same);
    const running = sightings.find(({ presence }) => presence.status === "running");
    if (running !== undefined) throw stillRunning(request, running);
    const [retained] = sightings.filter(({ pane }) => !pane.isOrphan);
    if (request.environment === null && retained === undefined) throw environmentLost(request);

    const { connection } = await link.ensure();
    const mark = formatMark(instance, request);
    const plan = {
      request,
      mark,
      cgroup: makeCgroup(request),
      shell: ["/bin/sh", inRunDirectory(() => ensureWrapper(runDir))],
      isStreamed: streams.isWanted(mark),
    };
    if (request.environment !== null) return startNew(plan, request.environment, sightings, connection);
    if (retained === undefined) throw environmentLost(request);
    const replaced = await connection.request(replacePaneCommands(plan, retained.pane), assigned(plan));
    streams.forget(retained.pane.id);
    return place(plan, replaced);
  };

  /** Removes those of the incarnations before it, which are empty: what lived in them was proven gone. */
  const makeCgroup = (request: CreateRequest): string | null => {
    for (const target of [request, { ...request, incarnation: request.incarnation - 1 }])
      if (!cgroups.remove(target)) throw occupied(target);
    const made = cgroups.make(request);
    failpoint("create.after-cgroup");
    return made;
  };

  /** Those that no next incarnation replaced: it could not be created. */
  const earlierThan = ({ sessionId, incarnation }: Target): readonly Target[] =>
    cgroups.all().filter((other) => other.sessionId === sessionId && other.incarnation < incarnation);

  const startNew = async (
    plan: PanePlan,
    environment: Readonly<Record<string, string>>,
    older: readonly Sighting[],
    connection: ControlConnection,
  ): Promise<Created> => {
    const { sessionId, incarnation } = plan.request;
    const replaced = older.map(({ pane }) => ({ text: `kill-pane -t ${pane.id}` }));
    if (replaced.length > 0) await connection.request(replaced);
    const start = (name: string): Promise<Answer> =>
      connection.request(newSessionCommands(plan, name, environment), assigned(plan));
    const answer = await start(sessionId);
    // Someone's own session has the name. It is theirs: ours only needs one for people to read.
    const isTaken = answer.error?.includes("duplicate session") === true && answer.replies.length === 1;
    return place(plan, isTaken ? await start(`${sessionId.slice(0, 50)}-reeve-${incarnation}`.slice(0, 64)) : answer);
  };

  /** Before any output that follows the reply is delivered. */
  const assigned =
    (plan: PanePlan) =>
    (answer: Answer): void => {
      const placed = parsePlaced(answer);
      if (placed !== null) streams.assign(placed.paneId, placed.windowId, plan.mark);
    };

  const place = (plan: PanePlan, answer: Answer): Created => {
    const placed = parsePlaced(answer);
    if (placed === null) throw notPlaced(answer.error ?? "tmux did not say where it put the process");
    const startTicks = readProcess(placed.pid)?.startTicks ?? "0";
    proofs.note(placed.paneId, placed.pid, startTicks, plan.mark);
    return { place: { id: placed.paneId, pid: placed.pid, startTicks }, isNew: true };
  };

  return {
    async create(request) {
      checkRequest(request);
      return queue.run(request.sessionId, () => create(request));
    },
    async retainsEnvironment(sessionId) {
      const { reach, sightings } = await directory.ofSession(sessionId);
      if (reach.status === "unreachable") throw unreachable(reach.evidence);
      return sightings.some(({ pane }) => !pane.isOrphan);
    },
    destroy: (target) =>
      queue.run(target.sessionId, async () => {
        const { reach, sightings } = await directory.one(target);
        // A terminal in which nothing runs holds up no end: once tmux answers, it belongs to no session and is swept.
        if (reach.status === "unreachable" && !hasEndedUnasked(target)) throw unreachable(reach.evidence);
        for (const sighting of sightings) {
          if (sighting.presence.status === "running") throw stillRunning(target, sighting);
          if (reach.status === "connected")
            await reach.connection.request([{ text: `kill-pane -t ${sighting.pane.id}` }]);
          streams.forget(sighting.pane.id);
        }
        failpoint("destroy.after-pane");
        for (const old of [target, ...earlierThan(target)]) if (!cgroups.remove(old)) throw occupied(old);
      }),
  };
}

/** A process that ended already is found too: it was started, and `observe` says how it ended. */
function found({ pane, presence }: Sighting): Created {
  if (presence.status === "running") return { place: presence.place, isNew: false };
  return { place: { id: pane.id, pid: pane.pid, startTicks: "0" }, isNew: false };
}

function stillRunning(target: Target, { pane }: Sighting): ReeveError {
  return new ReeveError({
    code: "still-running",
    kind: "conflict",
    message: `Session ${target.sessionId} still runs (process ${pane.pid}, start ${pane.owner.incarnation}); stop it first.`,
    details: { pid: pane.pid, incarnation: pane.owner.incarnation },
  });
}

function occupied(target: Target): ReeveError {
  return new ReeveError({
    code: "still-running",
    kind: "conflict",
    message: `Something still runs in the cgroup of session ${target.sessionId} (start ${target.incarnation}); stop it first.`,
    details: { incarnation: target.incarnation },
  });
}
