/**
 * Sessions as panes of a tmux server of Reeve's own. Ties together the server
 * link, the pane directory, the process tree and the output streams into the
 * Runtime contract. It addresses panes only by an id that it found by their
 * mark. It touches no other tmux server, no tmux configuration of the user, and
 * no process that is not proven to be ours.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { isAlive, isUnreadable, openFilesOf } from "../../platform/process-table.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import {
  type EndProof,
  formatMark,
  type ListingEntry,
  type Presence,
  parseMark,
  type Runtime,
  type Target,
} from "../contract.ts";
import { localFiles } from "../local-files.ts";
import { captureCommands, readScreen } from "./capture-screen.ts";
import { createChangeHints } from "./change-hints.ts";
import { createOutputStreams } from "./output-streams.ts";
import { absentEvidence, createPaneDirectory, type Finding } from "./pane-directory.ts";
import { createPaneProofs, type RecordedPlace } from "./pane-proof.ts";
import { describePlace, readPlace } from "./pane-place.ts";
import { createPlacement } from "./placement.ts";
import { isMarked } from "./process-mark.ts";
import { environmentOfPlace, findStrays, membersOf, type Tree } from "./process-tree.ts";
import { checkName, quote } from "./quote.ts";
import { detachKeys, personArguments } from "./server-config.ts";
import { createServerLink, type Reach } from "./server-link.ts";
import { createSessionCgroups } from "./session-cgroups.ts";
import { stopTree } from "./stop-tree.ts";
import { releaseTree, suspendTree } from "./suspend-tree.ts";
import { createTerminals } from "./terminals.ts";
import { checkSteps, PASTE_SUFFIX, typeInto } from "./type-input.ts";
import { createWindowLinks } from "./window-links.ts";
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
  readonly tmuxBinary?: string;
  /** Whether sessions get cgroups of their own where that can be done; they do unless told otherwise. */
  readonly cgroups?: boolean;
}

export function createTmuxRuntime(options: TmuxRuntimeOptions): Runtime {
  const { runDir, clock, log } = options;
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
    onNotification: (name, rest) => notified(name, rest),
    onConnected: (server, isOtherServer) => {
      cgroups.meet(server.pid);
      if (isOtherServer) {
        streams.forgetAll();
        proofs.forgetAll();
      }
      terminals.renew(null);
      removePastes(runDir, log);
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
  const directory = createPaneDirectory({ instance, wrapper, link, streams, proofs, clock });
  const sessionOf = (mark: string): string => parseMark(instance, mark)?.sessionId ?? "";
  const links = createWindowLinks(streams, (mark) => directory.ofSession(sessionOf(mark)), log);
  const terminals = createTerminals({ instance, directory, streams, clock, log });
  hints.listen(terminals.notice);
  const placement = createPlacement({ instance, runDir, link, directory, streams, proofs, cgroups });

  const notified = (name: string, rest: string): void => {
    switch (name) {
      case "sessions-changed":
      case "window-close":
      case "unlinked-window-close":
        return hints.tell(null);
      case "window-renamed":
      case "unlinked-window-renamed": // by the hook in server-config.ts: its process ended
        return hints.tell(parseMark(instance, streams.markOfWindow(rest.split(" ", 1)[0] ?? "") ?? ""));
      case "pause":
        return resume(rest);
    }
  };

  const resume = (paneId: string): void => {
    if (!/^%\d+$/.test(paneId)) return;
    log("terminal output came faster than it was read; some of it was skipped", { pane: paneId });
    const goOn = async (): Promise<void> => {
      const reach = await link.reach();
      if (reach.status !== "connected") return;
      await reach.connection.request([{ text: `refresh-client -A '${paneId}:continue'` }]);
      terminals.renew(streams.markOfPane(paneId) ?? null);
    };
    goOn().catch(() => {}); // a new connection is not paused
  };

  const treeOf = async (target: Target): Promise<{ readonly tree: Tree; readonly finding: Finding }> => {
    const finding = await directory.one(target);
    const presence = finding.sightings[0]?.presence;
    const place = presence?.status === "running" ? presence.place : null;
    const spared = finding.reach.status === "connected" ? [finding.reach.server.pid] : [];
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
    if (reach.status === "unreachable") return { status: "unreachable", askedAt, evidence: reach.evidence };
    return { status: "absent", askedAt, evidence: absentEvidence(reach, target) };
  };

  return {
    kind: "tmux",
    capabilities: { suspend: true, stream: true, attach: true },
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
    async send(target, steps) {
      checkSteps(steps);
      const { pane, presence, connected } = await directory.require(target);
      if (presence.status !== "running") throw notRunning(target);
      const { connection, server } = connected;
      await typeInto(pane, steps, { connection, version: server.version, runDir, clock });
    },
    async capture(target, { lines, style }) {
      const wanted = Math.max(0, Math.floor(lines));
      const { pane, connected } = await directory.require(target);
      const answer = await connected.connection.request(captureCommands(pane.id, wanted));
      if (answer.error === null) return readScreen(answer, wanted, style);
      throw new ReeveError({
        code: "capture-failed",
        kind: "unavailable",
        message: `tmux did not show the screen: ${answer.error}.`,
      });
    },
    async relabel(target, label) {
      const { pane, presence, connected } = await directory.require(target);
      // A dead pane's window is called "ended": the next start names it.
      if (presence.status !== "running") return;
      await connected.connection.request([{ text: `rename-window -t ${pane.windowId} ${checkName(label)}` }]);
    },
    async lastTypedAt(target) {
      const { pane, connected } = await directory.require(target);
      const format = quote("client #{client_control_mode} #{client_activity}");
      const answer = await connected.connection.request([
        { text: `list-clients -t ${quote(pane.sessionId)} -F ${format}` },
      ]);
      return latestKey(answer.replies[0]?.lines ?? []);
    },
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
    stream: (target, listener) => streams.add(formatMark(instance, target), listener),
    openTerminal: terminals.open,
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
    retire: link.retire,
    close: link.close,
  };
}

/** What a session's files are open in is found by its mark: a look every quarter of a second must stay cheap. */
const NOT_LOOKED_FOR = { why: "not looked for" } as const;

/** Of people's terminals only; tmux gives whole seconds, so the end of that second. */
function latestKey(lines: readonly string[]): number | null {
  const seconds = lines.flatMap((line) => {
    const match = /^client 0 (\d+)$/.exec(line);
    return match === null ? [] : [Number(match[1])];
  });
  return seconds.length === 0 ? null : (Math.max(...seconds) + 1) * 1_000;
}

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

function notRunning(target: Target): ReeveError {
  return new ReeveError({
    code: "not-running",
    kind: "conflict",
    message: `Session ${target.sessionId} is not running; restart it first.`,
  });
}

/** A daemon killed while pasting leaves the text of a message behind. */
function removePastes(runDir: string, log: TmuxRuntimeOptions["log"]): void {
  try {
    for (const name of readdirSync(runDir))
      if (name.endsWith(PASTE_SUFFIX)) rmSync(join(runDir, name), { force: true });
  } catch (error) {
    log("what an earlier paste left could not be removed", { error: messageOf(error) });
  }
}
