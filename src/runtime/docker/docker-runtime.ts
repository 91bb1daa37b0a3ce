/**
 * Sessions in containers of a Docker Engine, or of Podman's socket that speaks
 * the same: one container for each incarnation, with a tmux server of its own in
 * it. Ties together the engine, the drivers of the boxes and the placement into
 * the Runtime contract. A container is ours by its labels. An engine that does
 * not answer makes everything in it unreachable, and proves nothing.
 */
import type { Clock } from "../../platform/clock.ts";
import { isAlive } from "../../platform/process-table.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { ProcessVitals } from "../../session/process-vitals.ts";
import { formatMark, type ListingEntry, type Runtime, type StopReport, type Stray, type Target } from "../contract.ts";
import { boxAttachArguments } from "../boxed/box-config.ts";
import { createContainerFiles } from "./container-files.ts";
import { createChangeHints } from "../driver/change-hints.ts";
import { unreachable } from "../driver/control-connection.ts";
import { notRunning } from "../driver/pane-driver.ts";
import { checkName } from "../driver/quote.ts";
import { detachKeys } from "../driver/server-config.ts";
import { createBoxRegistry } from "./box-registry.ts";
import { createContainerPlacement } from "./container-placement.ts";
import { createContainerPresence, describeContainer, notAsked, shortId } from "./container-presence.ts";
import { createContainerRecords, type FoundContainer } from "./container-record.ts";
import { engineAddress } from "./engine-address.ts";
import { createEngineClient, isRefusal } from "./engine-client.ts";
import { createEngineEvents } from "./engine-events.ts";
import { describeEngine, type EngineFacts, impediment, readEngineFacts } from "./engine-facts.ts";

import { createImagePrograms } from "./image-programs.ts";

export interface DockerRuntimeOptions {
  /** This home's name in every mark and label. */
  readonly instance: string;
  /** Where the directories of sessions are. */
  readonly outputsDir: string;
  /** As DOCKER_HOST has it; null: by Docker's own rules. */
  readonly host: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
  /** The program that a person's terminal runs to be in a session, on this Node. */
  readonly attachProgram: string;
  /** For what git needs while it runs in a session's checkout: a directory of this runtime's own. */
  readonly gitDir: string;
}

/** The engine freezes and thaws in milliseconds, and kills as fast; a busy machine takes longer. */
const ACT_MS = 20_000;

export function createDockerRuntime(options: DockerRuntimeOptions): Runtime {
  const { clock, log } = options;
  const instance = checkName(options.instance);
  const address = engineAddress(options.host, options.environment);
  const engine = createEngineClient(address);
  const hints = createChangeHints(log);
  const records = createContainerRecords(engine, instance);
  let known: Promise<EngineFacts> | null = null;
  const facts = (): Promise<EngineFacts> => {
    known ??= readEngineFacts(engine).catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };
  const owner = String(process.getuid?.() ?? 0);
  /** Root of a rootless engine's containers is its user: files that it makes are that user's. */
  const user = async (): Promise<string> =>
    (await facts()).isRootless ? "0:0" : `${owner}:${process.getgid?.() ?? 0}`;
  const boxes = createBoxRegistry({ engine, records, instance, user, hints, clock, log });
  const presence = createContainerPresence({ records, boxes, instance, clock });
  const placement = createContainerPlacement({ engine, records, boxes, instance, facts, user, owner, clock, log });
  const programs = createImagePrograms({ engine, instance, facts, user, clock });
  const tell = hints.tell;
  // What began may be another engine than the one that was asked before.
  const events = createEngineEvents({ engine, instance, clock, tell, log, onBegun: () => (known = null) });

  const all = async (): Promise<readonly FoundContainer[]> => {
    const { generation } = boxes;
    const found = await records.list();
    boxes.keepOnly(found, generation);
    if (found.length > 0) events.begin();
    placement.tidy(found);
    await programs.tidy();
    return found;
  };

  const entriesOf = (found: readonly FoundContainer[], askedAt: number): Promise<readonly ListingEntry[]> =>
    Promise.all(
      found.map(async (container) => {
        try {
          return { ...container.target, presence: await presence.ofContainer(container, askedAt) };
        } catch (error) {
          return { ...container.target, presence: notAsked(error, askedAt) };
        }
      }),
    );

  const requireContainer = async (target: Target): Promise<FoundContainer> => {
    const found = await records.find(target);
    if (found === null || found.state === "ended" || found.state === "created") throw notRunning(target);
    return found;
  };

  const act = (found: FoundContainer, what: "pause" | "unpause" | "kill"): Promise<unknown> =>
    engine.demand("POST", `/containers/${found.id}/${what}`, { timeoutMs: ACT_MS });

  /** What the engine says of one that stands still; inside nothing answers. */
  const frozenVitals = async ({ id }: FoundContainer): Promise<readonly ProcessVitals[]> => {
    const top = await engine.demand("GET", `/containers/${id}/top?ps_args=${encodeURIComponent("-eo pid,args")}`);
    const rows = (top as { readonly Processes?: readonly (readonly string[])[] }).Processes ?? [];
    return rows.map(([pid]) => ({
      id: `outside ${pid}`,
      text: `process ${pid}`,
      state: "stopped" as const,
      isForeground: false,
      cpuMs: 0,
      endedCpuMs: 0,
    }));
  };

  const vitalsOf = async (target: Target, found: readonly FoundContainer[]): Promise<readonly ProcessVitals[]> => {
    const container = found.find(
      ({ target: { sessionId, incarnation } }) => sessionId === target.sessionId && incarnation === target.incarnation,
    );
    if (container?.state === "paused") return await frozenVitals(container);
    return container?.state === "running" ? await boxes.meet(container).vitals() : [];
  };

  const stop: Runtime["stop"] = async (target, stopOptions) => {
    const found = await records.find(target);
    if (found === null || found.state === "ended" || found.state === "created") return NOTHING_LEFT;
    if (found.state === "paused") await act(found, "unpause").catch(unlessRefused);
    try {
      const report = await boxes.meet(found).stop(stopOptions);
      if (report.survivors.length === 0) return report;
      // It may be held by the kernel, be started again by tmux on the session's order, or not exist: whatever is said
      // inside may be a lie.
      log("a container does not come to an end; it is killed as a whole", { ...target, why: report.evidence });
    } catch (error) {
      log("nothing can be run in a container; it is killed as a whole", { ...target, why: messageOf(error) });
    }
    return await killWhole(found);
  };

  /** The last way: with its first process the kernel ends everything in it. */
  const killWhole = async (found: FoundContainer): Promise<StopReport> => {
    await act(found, "kill").catch(unlessRefused);
    const endsAt = clock.monotonic() + ACT_MS;
    for (let now: FoundContainer | null = found; now !== null && now.state !== "ended";) {
      if (clock.monotonic() > endsAt) throw unreachable(`container ${shortId(found.id)} was killed, but still runs`);
      await clock.sleep(20);
      now = await records.find(found.target);
    }
    const evidence = "Its programs could not be ended one by one, so its container was killed, and everything in it.";
    return { terminated: 0, killed: 1, survivors: [], evidence };
  };

  return {
    kind: "docker",
    capabilities: { suspend: true, stream: true, attach: true, containers: true },
    // Each container is asked over a connection of its own. The engine and tmux tell of changes by themselves.
    mostAtFullPace: 10,
    files: createContainerFiles(options),
    programsIn: programs.in,
    async requireReady() {
      try {
        known = null;
        return describeEngine(await facts(), address.url);
      } catch (error) {
        throw impediment(error, address.url);
      }
    },
    /** An engine takes 15 ms to tell of itself, because it starts programs for that; as long as it is heard it is the same one. */
    async requireStartable() {
      try {
        if (!events.isHeard()) known = null;
        await (known === null ? facts() : engine.demand("GET", "/_ping"));
      } catch (error) {
        throw impediment(error, address.url);
      }
    },
    async create(request) {
      events.begin();
      return await placement.create(request);
    },
    describe: describeContainer,
    retainsEnvironment: placement.retainsEnvironment,
    destroy: placement.destroy,
    environmentOf: (target) =>
      boxes
        .of(target)
        .startedWith()
        .catch(() => null), // none, or it could not be read
    observe: presence.observe,
    async list() {
      const askedAt = clock.now();
      try {
        const found = await all();
        const entries = await entriesOf(found, askedAt);
        return {
          reachable: true,
          askedAt,
          entries,
          evidence: `the engine at ${address.url} has ${counted(found.length)}`,
        };
      } catch (error) {
        return { reachable: false, askedAt, evidence: notAsked(error, askedAt).evidence };
      }
    },
    async vitals(sessions) {
      const askedAt = clock.now();
      try {
        const found = sessions.length === 0 ? [] : await records.list();
        const entries = await Promise.all(
          sessions.map(async ({ target }) => ({ ...target, processes: await vitalsOf(target, found) })),
        );
        return { reachable: true, askedAt, entries, evidence: `processes of ${entries.length} sessions` };
      } catch (error) {
        return { reachable: false, askedAt, evidence: notAsked(error, askedAt).evidence };
      }
    },
    send: (target, steps) => boxes.of(target).send(target, steps),
    capture: (target, how) => boxes.of(target).capture(target, how),
    relabel: (target, label) => boxes.of(target).relabel(target, label),
    lastTypedAt: (target) => boxes.of(target).lastTypedAt(target),
    async owns(target, process) {
      const found = await records.find(target);
      return found?.state === "running" && (await boxes.meet(found).lives(process, formatMark(instance, target)));
    },
    /** A file that both sides see may name a process of either. */
    async lives(process) {
      if (isAlive(process.pid, process.startTicks)) return true;
      const running = (await records.list()).filter(({ state }) => state === "running");
      const found = await Promise.all(running.map((container) => boxes.meet(container).lives(process)));
      return found.includes(true);
    },
    async openFiles(target) {
      const found = await records.find(target);
      return found?.state === "running" ? await boxes.meet(found).openFiles() : [];
    },
    stream: (target, listener) => boxes.of(target).stream(target, listener),
    follow: (target, listener) => boxes.of(target).follow(target, listener),
    openTerminal: (target) => boxes.of(target).openTerminal(target),
    async suspend(target) {
      const found = await requireContainer(target);
      if (found.state === "paused") return PAUSED;
      // Engine 20.10 can hang over a container that it pauses while it lets somebody in, and then never lets it go on:
      // whoever of ours is on the way in arrives first.
      const box = boxes.meet(found);
      await Promise.allSettled([box.reach(), box.ask(":")]);
      await act(found, "pause");
      return PAUSED;
    },
    async release(target) {
      const found = await requireContainer(target);
      if (found.state === "paused") await act(found, "unpause");
      return "All its processes run again (its container is not paused)";
    },
    stop,
    async findStrays(live) {
      const strays = (await all()).filter(({ target, state }) => !live(target) && state === "running");
      const found = await Promise.all(strays.map((container) => straysIn(container)));
      return found.flat();
    },
    endProof: async () => ({
      isWhole: true,
      text: "Each session has a container of its own: the kernel ends everything in it when it is removed.",
    }),
    onChange: hints.listen,
    async attachCommand(target, taken, how) {
      const found = await requireContainer(target);
      const { reach, sightings } = await boxes.meet(found).find();
      const session = sightings[0]?.pane.sessionId;
      if (session === undefined) throw reach.status === "connected" ? notRunning(target) : unreachable(reach.evidence);
      const about = { address, container: found.id, user: await user(), argv: boxAttachArguments(session, taken, how) };
      const argv = [process.execPath, options.attachProgram, JSON.stringify(about)];
      return { argv, detach: detachKeys(taken) };
    },
    async notify(notice) {
      // Whoever is attached is so through the engine: where that does not answer, nobody could see it.
      const nobody = (error: unknown): number => (notAsked(error, clock.now()), 0);
      const tell = (found: FoundContainer): Promise<number> => boxes.meet(found).notify(notice).catch(nobody);
      try {
        const running = (await records.list()).filter(({ state }) => state === "running");
        return (await Promise.all(running.map(tell))).reduce((sum, count) => sum + count, 0);
      } catch (error) {
        return nobody(error);
      }
    },
    runBeside: (target, run) => boxes.of(target).runBeside(run),
    async retire() {
      const found = await all();
      const entries = await entriesOf(found, clock.now());
      const living = entries.filter(({ presence: { status } }) => status === "running" || status === "unreachable");
      if (living.length > 0)
        throw new ReeveError({
          code: "containers-in-use",
          kind: "conflict",
          message: `The containers were left alone: ${counted(living.length)} still in use. End what runs there and try again.`,
        });
      for (const container of found) await placement.remove(container);
    },
    async close() {
      events.close();
      await Promise.all([boxes.close(), programs.close()]);
    },
  };

  async function straysIn(container: FoundContainer): Promise<readonly Stray[]> {
    const commands = await boxes.meet(container).commands();
    const where = `in container ${shortId(container.id)}`;
    return commands.map((what) => ({ ...container.target, what: `${what} ${where}` }));
  }
}

const PAUSED = "All its processes are stopped (its container is paused)";

const NOTHING_LEFT: StopReport = {
  terminated: 0,
  killed: 0,
  survivors: [],
  evidence: "Its container does not run, so nothing in it does.",
};

function counted(count: number): string {
  return count === 1 ? "1 container of this home" : `${count} containers of this home`;
}

/** Somebody else did it meanwhile; whatever else there is, the next question tells. */
function unlessRefused(error: unknown): void {
  if (!isRefusal(error, 409) && !isRefusal(error, 404)) throw error;
}
