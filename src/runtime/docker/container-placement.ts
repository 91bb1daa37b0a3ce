/**
 * Puts a session's process into a container of its own, and removes that again.
 * Each step can be repeated: a daemon that is killed in between leaves a
 * container that the next try goes on with, found by its labels. A new
 * incarnation gets a new container, and the environment is in there before the
 * old one, which held it, is removed.
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { ContainerRequest, Created, CreateRequest, Target } from "../contract.ts";
import type { Box, Environment } from "../boxed/box.ts";
import { WITHOUT_TMUX } from "../boxed/box-config.ts";
import type { BoxSighting } from "../boxed/box-directory.ts";
import { WITHOUT_CARRIER } from "../boxed/passage-carrier.ts";
import { imageWithoutCarrier } from "../passage.ts";
import { unreachable } from "../driver/control-connection.ts";
import { checkRequest } from "../driver/create-pane.ts";
import { environmentLost } from "../driver/create-pane.ts";
import type { BoxRegistry } from "./box-registry.ts";
import { placeOf, shortId } from "./container-presence.ts";
import { containerName, type ContainerRecords, type FoundContainer } from "./container-record.ts";
import { containerSpec } from "./container-spec.ts";
import { attachedProgram } from "./exec-transport.ts";
import { type EngineClient, isRefusal } from "./engine-client.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { requireImage } from "./image.ts";
import { imageWithoutTmux, nameTaken, notMade, withoutImage } from "./refusals.ts";

export interface ContainerPlacement {
  create(request: CreateRequest): Promise<Created>;
  retainsEnvironment(sessionId: string): Promise<boolean>;
  destroy(target: Target): Promise<void>;
  remove(found: FoundContainer): Promise<void>;
  /** Has removed, later, what an engine left that was killed while it removed it. To be told of all there are. */
  tidy(all: readonly FoundContainer[]): void;
}

export interface PlacementParts {
  readonly engine: EngineClient;
  readonly records: ContainerRecords;
  readonly boxes: BoxRegistry;
  readonly instance: string;
  readonly facts: () => Promise<EngineFacts>;
  readonly user: () => Promise<string>;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
}

/** Half a second each on a quiet machine; some seconds where many start at once. */
const CREATE_MS = 60_000;
/** For tmux to answer in a container that was just started. */
const UP_MS = 30_000;
const LOOK_MS = 20;

export function createContainerPlacement(parts: PlacementParts): ContainerPlacement {
  const { engine, records, boxes, instance, clock } = parts;
  const queue = createKeyedQueue();

  const create = async (request: CreateRequest, container: ContainerRequest): Promise<Created> => {
    // Asked beside the list; whoever needs the answer is told if there is none.
    const image = requireImage(engine, container.image, await parts.facts());
    image.catch(() => undefined);
    const all = await records.list(request.sessionId);
    const same = all.find(({ target }) => target.incarnation === request.incarnation);
    const older = all.filter((found) => found !== same);
    // One that ended was started, and `observe` says how it ended.
    if (same !== undefined && same.state === "ended") return { place: placeOf(same), isNew: false };
    if (same?.state === "running" || same?.state === "paused") {
      const { sightings, reach } = await boxes.meet(same).find();
      if (sightings.length > 0) return { place: placeOf(same), isNew: false };
      if (reach.status !== "connected") throw unreachable(reach.evidence);
    }
    const held = await requireEnded(request, older);
    if (request.environment === null && held === null && same === undefined) throw environmentLost(request);

    if (same === undefined) await image;
    const found = same ?? (await make(request, container));
    failpoint("create.after-container");
    const box = boxes.meet(found);
    const started = found.state === "created" ? await start(found, box, container) : null;
    failpoint("create.after-start");
    await untilUp(box, found, container);
    const given = request.environment ?? held;
    // One that was just started has none.
    const environment = started !== null && given !== null ? await put(box, given) : await settle(box, given);
    if (environment === null) throw environmentLost(request);
    failpoint("create.after-environment");
    for (const old of older) await remove(old);
    failpoint("create.after-removal");
    await box.begin(request, environment);
    await started?.answer;
    return { place: placeOf(found), isNew: true };
  };

  /** Throws while something of an older incarnation lives; says which environment they hold. */
  const requireEnded = async (
    request: CreateRequest,
    older: readonly FoundContainer[],
  ): Promise<Environment | null> => {
    let held: Environment | null = null;
    for (const found of older) {
      if (found.state !== "running" && found.state !== "paused") continue;
      if (found.state === "paused") throw stillRunning(found);
      const box = boxes.meet(found);
      const { reach, sightings } = await box.find();
      if (reach.status !== "connected") throw unreachable(reach.evidence);
      if (!box.hasEnded() && sightings.some(isRunning)) throw stillRunning(found);
      held = (await box.environment()) ?? held;
    }
    return request.environment === null ? held : null;
  };

  /** The first that was given stays: a repeated start may bring none. */
  const settle = async (box: Box, given: Environment | null): Promise<Environment | null> => {
    const kept = await box.environment();
    return kept !== null || given === null ? kept : await put(box, given);
  };

  const put = async (box: Box, given: Environment): Promise<Environment> => {
    await box.keepEnvironment(given);
    return given;
  };

  const make = async (request: CreateRequest, container: ContainerRequest): Promise<FoundContainer> => {
    const name = containerName(instance, request);
    const body = containerSpec(request, container, { instance, user: await parts.user(), owner: parts.owner });
    try {
      const made = await engine.demand("POST", `/containers/create?name=${name}`, { body, timeoutMs: CREATE_MS });
      const { sessionId, incarnation } = request;
      return {
        id: String((made as { readonly Id?: unknown }).Id),
        target: { sessionId, incarnation },
        state: "created",
      };
    } catch (error) {
      if (isRefusal(error, 404)) throw withoutImage(container.image);
      if (!isRefusal(error, 409)) throw notMade(error);
      // A request that was given up on may have been carried out.
      const found = await records.find(request);
      if (found === null) throw nameTaken(name);
      return found;
    }
  };

  /**
   * Resolves when it runs. The engine tells so a little later (`answer`): the program inside is spoken to meanwhile, over
   * the connection that was made before.
   */
  const start = async (
    found: FoundContainer,
    box: Box,
    { image }: ContainerRequest,
  ): Promise<{ readonly answer: Promise<void> }> => {
    const whenRefused = async (error: unknown): Promise<never> => {
      if (error instanceof ReeveError && error.code === "engine-refused") await remove(found);
      throw notMade(error, image);
    };
    const program = await attachedProgram(engine, found.id).catch(whenRefused);
    box.offer(program.transport);
    const starting = engine.demand("POST", `/containers/${found.id}/start`, { timeoutMs: CREATE_MS });
    const answer = starting.then(() => undefined, whenRefused);
    answer.catch(() => undefined); // whoever waits for it is told
    await Promise.race([answer, program.spoke]);
    return { answer };
  };

  const untilUp = async (box: Box, found: FoundContainer, { image }: ContainerRequest): Promise<void> => {
    const endsAt = clock.monotonic() + UP_MS;
    for (;;) {
      const reach = await box.reach();
      if (reach.status === "connected") return;
      const now = await records.find(found.target);
      if (now?.state === "ended") {
        const end = await records.endOf(now.id);
        await remove(now);
        if (end?.code === WITHOUT_TMUX) throw imageWithoutTmux(image);
        throw end?.code === WITHOUT_CARRIER ? imageWithoutCarrier(image) : notStaying(image, end?.code ?? null);
      }
      if (now === null || clock.monotonic() > endsAt) throw unreachable(reach.evidence);
      await clock.sleep(LOOK_MS);
    }
  };

  const remove = async (found: FoundContainer): Promise<void> => {
    // 404: gone already; 409: its removal is under way.
    const how = { also: [404, 409], timeoutMs: CREATE_MS };
    await engine.demand("DELETE", `/containers/${found.id}?force=1&v=1`, how);
    const endsAt = clock.monotonic() + UP_MS;
    while ((await engine.ask("GET", `/containers/${found.id}/json`)).status !== 404) {
      if (clock.monotonic() > endsAt) throw unreachable(`container ${shortId(found.id)} is not removed yet`);
      await clock.sleep(LOOK_MS);
    }
    boxes.forget(found.target, "its container was removed");
  };

  const tidying = new Set<string>();

  /** A new container is made when what was in the one before is proven to have ended: dead, that holds nothing any more. */
  const tidy = (all: readonly FoundContainer[]): void => {
    const isFollowed = ({ sessionId, incarnation }: Target): boolean =>
      all.some(({ target }) => target.sessionId === sessionId && target.incarnation > incarnation);
    for (const found of all) {
      const { id, target, state } = found;
      if (state !== "ended" || !isFollowed(target) || tidying.has(id)) continue;
      tidying.add(id);
      const report = (error: unknown): void =>
        parts.log("a dead container could not be removed; tried again", { ...target, why: messageOf(error) });
      void remove(found)
        .catch(report)
        .finally(() => tidying.delete(id));
    }
  };

  return {
    tidy,
    async create(request) {
      checkRequest(request);
      const { container } = request;
      if (container === undefined) throw withoutImage(null);
      return queue.run(request.sessionId, () => create(request, container));
    },
    async retainsEnvironment(sessionId) {
      for (const found of await records.list(sessionId)) {
        if (found.state !== "running") continue;
        const box = boxes.meet(found);
        const reach = await box.reach();
        if (reach.status !== "connected") throw unreachable(reach.evidence);
        if ((await box.environment()) !== null) return true;
      }
      return false;
    },
    destroy: (target) =>
      queue.run(target.sessionId, async () => {
        for (const found of await records.list(target.sessionId)) {
          if (found.target.incarnation > target.incarnation) continue;
          if (found.state === "paused") throw stillRunning(found);
          const box = boxes.meet(found);
          if (found.state === "running" && !box.hasEnded()) {
            const { reach, sightings } = await box.find();
            if (reach.status === "unreachable") throw unreachable(reach.evidence);
            if (sightings.some(isRunning)) throw stillRunning(found);
          }
          await remove(found);
          failpoint("destroy.after-container");
        }
      }),
    remove,
  };
}

function isRunning({ presence }: BoxSighting): boolean {
  return presence.status === "running";
}

function stillRunning({ id, target }: FoundContainer): ReeveError {
  return new ReeveError({
    code: "still-running",
    kind: "conflict",
    message: `Session ${target.sessionId} still runs (container ${shortId(id)}, start ${target.incarnation}); stop it first.`,
    details: { container: id, incarnation: target.incarnation },
  });
}

function notStaying(image: string, code: number | null): ReeveError {
  return new ReeveError({
    code: "container-not-staying",
    kind: "conflict",
    message: `The container of image ${image} ended as soon as it was started (status ${code ?? "unknown"}); its tmux may be older than 3.2.`,
  });
}
