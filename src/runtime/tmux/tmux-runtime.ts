/**
 * Sessions as panes of a tmux server of Reeve's own. Ties together the server
 * link, the pane directory, the process tree and the output streams into the
 * Runtime contract. It addresses panes only by an id that it found by their
 * mark. It touches no other tmux server, no tmux configuration of the user, and
 * no process that is not proven to be ours.
 */
import { execFile } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { isAlive, isUnreadable, openFilesOf } from "../../platform/process-table.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import {
  type BesideRun,
  type EndProof,
  formatMark,
  type ListingEntry,
  type Presence,
  parseMark,
  type Runtime,
  type Target,
} from "../contract.ts";
import { localFiles } from "../local-files.ts";
import { ring } from "./ring.ts";
import { notifyAttached } from "../driver/attached-people.ts";
import { createChangeHints } from "../driver/change-hints.ts";
import { createOutputStreams } from "../driver/output-streams.ts";
import type { Finding } from "../driver/pane-directory.ts";
import { absentEvidence, createLocalDirectory } from "./local-directory.ts";
import { createPaneDriver, notRunning } from "../driver/pane-driver.ts";
import { createPaneProofs, type RecordedPlace, type Sighting } from "./pane-proof.ts";
import { describePlace, readPlace } from "./pane-place.ts";
import { endedWithoutTmux } from "./pane-sight.ts";
import { createPlacement } from "./placement.ts";
import { isMarked } from "./process-mark.ts";
import { environmentOfPlace, findStrays, membersOf, type Tree } from "./process-tree.ts";
import { checkName } from "../driver/quote.ts";
import { detachKeys, personArguments } from "../driver/server-config.ts";
import type { Reach } from "../driver/reach.ts";
import { BESIDE_SOCKET, runBeside } from "./run-beside.ts";
import { createServerLink } from "./server-link.ts";
import { createSessionCgroups } from "./session-cgroups.ts";
import { stopTree } from "./stop-tree.ts";
import { releaseTree, suspendTree } from "./suspend-tree.ts";
import { readVitals } from "./vitals.ts";
import { PASTE_SUFFIX, saysLineMode } from "../driver/type-input.ts";
import { createWindowLinks } from "../driver/window-links.ts";
import { wrapperPath } from "./wrapper.ts";

export interface TmuxRuntimeOptions {
  /** This home's name in every mark. */
  readonly instance: string;
  /** Exists, mode 0700: socket, configuration, wrapper and what is remembered of the server. */
  readonly runDir: string;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
  /** What it need not prove again; without it every pane is. */
  readonly recordedPlace?: RecordedPlace;
  /** What runs programs for it inside the tmux server (beside-program.ts); without it none can be. */
  readonly besideProgram?: string;
  readonly tmuxBinary?: string;
  /** Whether sessions get cgroups of their own where that can be done; they do unless told otherwise. */
  readonly cgroups?: boolean;
}

export function createTmuxRuntime(options: TmuxRuntimeOptions): Runtime {
  const { runDir, clock, log, besideProgram } = options;
  const instance = checkName(options.instance);
  const binary = options.tmuxBinary ?? "tmux";
  const hints = createChangeHints(log);
  const streams = createOutputStreams((mark) => {
    if (streams.paneOf(mark) !== undefined) links.refresh(mark);
  }, log);
  const link = createServerLink({
    instance,
    runDir,
    binary,
    clock,
    log,
    onOutput: streams.deliver,
    onNotification: (name, rest) => driver.notified(name, rest),
    onConnected: (server, isOtherServer) => {
      cgroups.meet(server.pid);
      if (isOtherServer) {
        streams.forgetAll();
        proofs.forgetAll();
      }
      driver.renew(null);
      removeLeftovers(runDir, log);
      if (streams.isAnyWanted()) links.refreshAll();
      hints.tell(null);
    },
    onLost: (reason) => {
      log("the connection to the tmux server was lost", { reason });
      hints.tell(null);
    },
    onRevived: () => hints.tell(null),
  });
  const cgroups = createSessionCgroups({ instance, runDir, isEnabled: options.cgroups ?? true, log });
  cgroups.leaveSession();
  const proofs = createPaneProofs(instance, options.recordedPlace);
  const wrapper = wrapperPath(runDir);
  const directory = createLocalDirectory({ instance, wrapper, link, streams, proofs, clock });
  const sessionOf = (mark: string): string => parseMark(instance, mark)?.sessionId ?? "";
  const links = createWindowLinks(streams, (mark) => directory.ofSession(sessionOf(mark)), log);
  const driver = createPaneDriver({
    instance,
    directory,
    streams,
    hints,
    reach: link.reach,
    // Where nobody listens it was paused when its window was unlinked, and goes on when it is linked (window-links.ts).
    staysPaused: (paneId) => {
      const mark = streams.markOfPane(paneId);
      return mark !== undefined && !streams.isWanted(mark);
    },
    stagingDir: runDir,
    isLineMode,
    clock,
    log,
  });
  const recordedPane = (target: Target) => readPlace(options.recordedPlace?.(target) ?? null);
  const hasEndedUnasked = (target: Target): boolean => endedWithoutTmux(recordedPane(target)) !== null;
  const placement = createPlacement({ instance, runDir, link, directory, streams, proofs, cgroups, hasEndedUnasked });

  const treeOf = async (target: Target): Promise<{ readonly tree: Tree; readonly finding: Finding<Sighting> }> => {
    const finding = await directory.one(target);
    const presence = finding.sightings[0]?.presence;
    const seen = presence?.status === "running" ? presence.place : null;
    const place = finding.reach.status === "unreachable" ? recordedPane(target) : seen;
    const spared = finding.reach.status === "connected" ? [finding.reach.server.pid] : link.serverPids();
    const cgroup = cgroups.find(target);
    return { tree: { instance, mark: formatMark(instance, target), place, spared, cgroup }, finding };
  };

  const runningTree = async (target: Target): Promise<Tree> => {
    const { connected, presence } = await directory.require(target);
    if (presence.status !== "running") throw notRunning(target);
    const spared = [connected.server.pid];
    const { place } = presence;
    return { instance, mark: formatMark(instance, target), place, spared, cgroup: cgroups.find(target) };
  };

  /** Cgroups without a pane: of one that is about to be created, or left by a daemon or a tmux server that was killed. */
  const abandoned = (reach: Reach, placed: readonly Target[], askedAt: number): readonly ListingEntry[] =>
    cgroups.all(placed).map((target) => {
      const evidence = absentEvidence(reach, target);
      return { ...target, presence: { status: "absent", askedAt, evidence } };
    });

  const observe = async (target: Target): Promise<Presence> => {
    const askedAt = clock.now();
    const { reach, sightings } = await directory.one(target);
    const [sighting] = sightings;
    if (sighting !== undefined) return { ...sighting.presence, askedAt };
    if (reach.status === "unreachable") {
      const ended = endedWithoutTmux(recordedPane(target));
      return ended === null ? { status: "unreachable", askedAt, evidence: reach.evidence } : { ...ended, askedAt };
    }
    return { status: "absent", askedAt, evidence: absentEvidence(reach, target) };
  };

  return {
    kind: "tmux",
    capabilities: { suspend: true, stream: true, attach: true, containers: false },
    files: localFiles,
    anticipate: () => void link.reach(),
    async requireReady() {
      const { major, minor } = await link.requireStartable();
      return `tmux ${major}.${minor}`;
    },
    create: placement.create,
    describe: describePlace,
    retainsEnvironment: placement.retainsEnvironment,
    destroy: placement.destroy,
    async environmentOf(target, place) {
      try {
        return environmentOfPlace(formatMark(instance, target), readPlace(place));
      } catch (error) {
        if (isUnreadable(error)) return null;
        throw error;
      }
    },
    observe,
    async list() {
      const askedAt = clock.now();
      const finding = await directory.all();
      const { reach, sightings } = finding;
      if (reach.status === "unreachable") return { reachable: false, askedAt, evidence: reach.evidence };
      const placed = sightings.map(({ pane, presence }) => ({
        ...pane.owner,
        presence: { ...presence, askedAt },
      }));
      const entries = [...placed, ...abandoned(reach, placed, askedAt)];
      if (reach.status === "absent") return { reachable: true, askedAt, entries, evidence: reach.evidence };
      links.compare(finding);
      const evidence = `the tmux server (process ${reach.server.pid}) runs; panes of sessions: ${placed.length}`;
      return { reachable: true, askedAt, entries, evidence };
    },
    endedUnasked(sessions) {
      const askedAt = clock.now();
      return sessions.flatMap(({ target, place }) => {
        const ended = endedWithoutTmux(readPlace(place));
        return ended === null ? [] : [{ ...target, presence: { ...ended, askedAt } }];
      });
    },
    async vitals(sessions) {
      const askedAt = clock.now();
      const placed = sessions.map(({ target, place }) => ({ target, place: readPlace(place) }));
      try {
        const entries = await readVitals(placed, cgroups.find);
        return { reachable: true, askedAt, entries, evidence: `processes of ${entries.length} sessions` };
      } catch (error) {
        if (!(error instanceof ReeveError) || error.kind !== "unavailable") throw error;
        return { reachable: false, askedAt, evidence: error.message };
      }
    },
    send: driver.send,
    capture: driver.capture,
    relabel: driver.relabel,
    lastTypedAt: driver.lastTypedAt,
    owns: async (target, process) => isMarked(process, formatMark(instance, target)),
    lives: async ({ pid, startTicks }) => isAlive(pid, startTicks),
    async openFiles(target, place) {
      const mark = formatMark(instance, target);
      const members = await membersOf({
        instance,
        mark,
        place: readPlace(place),
        spared: [],
        cgroup: NOT_LOOKED_FOR,
      });
      return members.flatMap(({ pid }) => openFilesOf(pid));
    },
    stream: driver.stream,
    follow: driver.follow,
    openTerminal: driver.openTerminal,
    suspend: async (target) => suspendTree(await runningTree(target), clock),
    release: async (target) => releaseTree(await runningTree(target), clock),
    async stop(target, stopOptions) {
      const { tree, finding } = await treeOf(target);
      const report = await stopTree(tree, stopOptions, clock);
      // tmux learns of the end a moment later; whoever observes next must not see the past.
      const endsAt = clock.monotonic() + 1_000;
      while (finding.sightings.length > 0 && report.survivors.length === 0 && clock.monotonic() < endsAt) {
        if ((await observe(target)).status !== "running") break;
        await clock.sleep(5);
      }
      return report;
    },
    async findStrays(live) {
      const dead = cgroups.all().filter((target) => !live(target));
      return findStrays(
        instance,
        live,
        dead.map((target) => ({ ...target, pids: cgroups.processesIn(target) })),
      );
    },
    endProof: async () => endProof(cgroups.impediment()),
    onChange: hints.listen,
    async attachCommand(target, taken, options = {}) {
      const { sightings } = await directory.ofSession(target.sessionId);
      const mark = formatMark(instance, target);
      const sessionId = sightings.find(({ pane }) => pane.mark === mark)?.pane.sessionId;
      const session = sessionId ?? (await directory.require(target)).pane.sessionId;
      const paths = { binary, socket: join(runDir, "tmux.sock") };
      return { argv: personArguments(paths, session, taken, options), detach: detachKeys(taken) };
    },
    notify: (notice) => notifyAttached(link.reach, notice, ring),
    ...(besideProgram === undefined
      ? {}
      : {
          runBeside: (_target: Target, beside: BesideRun) =>
            runBeside(beside, { reach: link.reach, runDir, besideProgram }),
        }),
    retire: link.retire,
    close: link.close,
  };
}

/** What a session's files are open in is found by its mark: a look every quarter of a second must stay cheap. */
const NOT_LOOKED_FOR = { why: "not looked for" } as const;

function endProof(impediment: string | null): EndProof {
  if (impediment === null)
    return {
      isWhole: true,
      text: "Each session has a cgroup of its own: the kernel proves that nothing of it is left.",
    };
  return {
    isWhole: false,
    text: `Reeve finds the processes of a session by the variable REEVE_MARK in their environment. A process that removes it can outlive its session unseen, because there is no cgroup here: ${impediment}.`,
  };
}

function isLineMode(tty: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("stty", ["-F", tty, "-a"], { timeout: 2_000 }, (error, stdout) =>
      resolve(error === null && saysLineMode(stdout)),
    );
  });
}

/** A daemon killed while pasting leaves the text of a message behind, one killed while it tried something out a socket. */
function removeLeftovers(runDir: string, log: TmuxRuntimeOptions["log"]): void {
  try {
    for (const name of readdirSync(runDir))
      if (name.endsWith(PASTE_SUFFIX) || BESIDE_SOCKET.test(name)) rmSync(join(runDir, name), { force: true });
  } catch (error) {
    log("what an earlier daemon left could not be removed", { error: messageOf(error) });
  }
}
