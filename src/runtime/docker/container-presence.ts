/**
 * Says what became of a session by its container: by the engine whether that is
 * there, runs or is paused, and by the tmux server inside how its program ended.
 * Only an answer of the engine proves that there is none.
 */
import type { Clock } from "../../platform/clock.ts";
import { constants } from "node:os";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Place, PlaceView } from "../../session/session.ts";
import { formatMark, type Presence, type Target } from "../contract.ts";
import type { Box } from "../boxed/box.ts";
import type { BoxSighting } from "../boxed/box-directory.ts";
import type { BoxRegistry } from "./box-registry.ts";
import type { ContainerRecords, FoundContainer } from "./container-record.ts";

export interface ContainerPresence {
  observe(target: Target): Promise<Presence>;
  /** Of one that the engine told of just now. */
  ofContainer(found: FoundContainer, askedAt: number): Promise<Presence>;
}

/** Inside: how often the kernel ended a process of the container for want of memory, in either version of cgroups. */
const OOM_COUNT = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control";

export function createContainerPresence(parts: {
  readonly records: ContainerRecords;
  readonly boxes: BoxRegistry;
  readonly instance: string;
  readonly clock: Clock;
}): ContainerPresence {
  const { records, boxes, instance, clock } = parts;
  /** By mark: asked once, when its process was found killed. */
  const outOfMemory = new Map<string, Promise<boolean>>();

  const ofContainer = async (found: FoundContainer, askedAt: number): Promise<Presence> => {
    const what = `container ${shortId(found.id)}`;
    switch (found.state) {
      case "created":
        return { status: "absent", askedAt, evidence: `${what} was made for it, but never started` };
      case "removing":
        return { status: "unreachable", askedAt, evidence: `${what} is being removed` };
      case "paused":
        return { status: "running", place: placeOf(found), isFrozen: true, askedAt, evidence: `${what} is paused` };
      case "ended":
        return await ended(found, what, askedAt);
      case "running":
        return await inside(found, what, askedAt);
    }
  };

  const ended = async (found: FoundContainer, what: string, askedAt: number): Promise<Presence> => {
    const end = await records.endOf(found.id);
    if (end === null) return { status: "absent", askedAt, evidence: `${what} is gone` };
    const { code, isOutOfMemory } = end;
    const signal = code === null || code <= 128 ? null : signalName(code - 128);
    const how = isOutOfMemory ? "ran out of memory" : signal === null ? `ended with status ${code}` : "was killed";
    const failure = isOutOfMemory ? ({ failure: "out-of-memory" } as const) : {};
    const evidence = `${what} ${how}, and everything in it with it; Reeve did not end it`;
    // After its program's own end a container goes on. So 0 is what tmux says when it is told to go (docker stop), and
    // no success of the session's program, which was killed with it.
    if (code === 0) return { status: "exited", code: null, signal: "SIGTERM", askedAt, evidence };
    return { status: "exited", code, signal, ...failure, askedAt, evidence };
  };

  const inside = async (found: FoundContainer, what: string, askedAt: number): Promise<Presence> => {
    const box = boxes.meet(found);
    const { reach, sightings } = await box.find();
    const [sighting] = sightings;
    if (sighting !== undefined) return await seen(found, sighting, box, what, askedAt);
    if (reach.status !== "connected") return { status: "unreachable", askedAt, evidence: `${what}: ${reach.evidence}` };
    return { status: "absent", askedAt, evidence: `${what} runs, but nothing of the session does` };
  };

  const seen = async (
    found: FoundContainer,
    { presence }: BoxSighting,
    box: Box,
    what: string,
    askedAt: number,
  ): Promise<Presence> => {
    const evidence = `${what}: ${presence.evidence}`;
    if (presence.status === "running")
      return { status: "running", place: placeOf(found), isFrozen: false, askedAt, evidence };
    const mark = formatMark(instance, found.target);
    if (presence.signal !== "SIGKILL" || !(await wasOutOfMemory(mark, box))) return { ...presence, askedAt, evidence };
    const why = `${evidence}; the kernel ended a process of the container for want of memory`;
    return { ...presence, failure: "out-of-memory", askedAt, evidence: why };
  };

  const wasOutOfMemory = (mark: string, box: Box): Promise<boolean> => {
    const asking =
      outOfMemory.get(mark) ??
      box.ask(OOM_COUNT).then(
        (text) => [...text.toString("utf8").matchAll(/^oom_kill (\d+)$/gm)].some(([, count]) => count !== "0"),
        () => false, // it cannot be told, which is no reason not to tell of its end
      );
    outOfMemory.set(mark, asking);
    return asking;
  };

  return {
    ofContainer,
    async observe(target) {
      const askedAt = clock.now();
      try {
        const found = await records.find(target);
        if (found !== null) return await ofContainer(found, askedAt);
        boxes.forget(target, "its container is gone");
        return { status: "absent", askedAt, evidence: `the engine has no container for session ${target.sessionId}` };
      } catch (error) {
        return notAsked(error, askedAt);
      }
    },
  };
}

/** What could not be asked proves nothing; any other error is none of the engine's. */
export function notAsked(error: unknown, askedAt: number): Extract<Presence, { status: "unreachable" }> {
  if (!(error instanceof ReeveError) || error.kind === "internal") throw error;
  const { reason } = error.details;
  return { status: "unreachable", askedAt, evidence: typeof reason === "string" ? reason : error.message };
}

export function placeOf({ id }: Pick<FoundContainer, "id">): Place {
  return { container: id };
}

export function describeContainer(place: Place): PlaceView {
  const id = place["container"];
  if (typeof id !== "string") return { text: "a container that this version does not know", id: null, pid: null };
  return { text: `container ${shortId(id)}`, id, pid: null };
}

export function shortId(id: string): string {
  return id.slice(0, 12);
}

function signalName(number: number): string | null {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}
