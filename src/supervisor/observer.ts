/**
 * Asks the runtimes what is there and feeds the answers to the ledger: at once
 * when a runtime hints at a change, and every few seconds regardless; with very
 * many sessions less often, so that this costs no more. An answer only counts for sessions, and the places they had, that were known before the
 * question was asked. A session is unreachable only after two questions without
 * an answer, and not if it is proven all the same that it has ended.
 */
import type { Agent } from "../agent/contract.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { messageOf } from "../platform/reeve-error.ts";
import type { Listing, Presence, Runtime, Target } from "../runtime/contract.ts";
import type { HomeEvent } from "../session/home-event.ts";
import type { Observation } from "../session/input.ts";
import { isFrostNews } from "../session/frozen.ts";
import { countMiss, isEnough } from "../session/misses.ts";
import { afterLook, isLostWith, lossIn } from "../session/runtime-loss.ts";
import type { Evidence, Session } from "../session/session.ts";
import { isSamePlace } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { eachIsolated } from "../platform/isolated.ts";
import { deathKind } from "./death-kind.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Scheduler } from "./ledger/scheduler.ts";
import { targetOf } from "./ledger/target.ts";

/** A second question soon after an unanswered one, so that the verdict does not take a whole interval. */
const SECOND_LOOK_MS = 500;
/** And while it does not answer, so that whoever asks knows soon that it does again: a refused question costs nothing. */
const NEXT_LOOK_MS = 1_000;

/**
 * A runtime with more sessions than it says is asked less often by itself, because each answer takes longer. Hints tell of
 * ends at once all the same, and sessions that work are looked at beside this (attention/health-watch.ts).
 */
const MOST_AT_FULL_PACE = 100;

export interface Observer {
  /** Resolves when every runtime was asked once and the answers are committed. */
  look(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

export function createObserver(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly runtimes: readonly Runtime[];
  readonly agent: (name: string) => Agent;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly intervalMs: number;
}): Observer {
  const watchers = parts.runtimes.map((runtime) => watch(parts, runtime));
  const unsubscribe = watchers.map((watcher) => watcher.runtime.onChange(() => watcher.lookSoon()));
  return {
    look: async () => {
      await Promise.all(watchers.map((watcher) => watcher.look()));
    },
    start: () => watchers.forEach((watcher) => watcher.start()),
    close: async () => {
      unsubscribe.forEach((stop) => stop());
      await Promise.all(watchers.map((watcher) => watcher.close()));
    },
  };
}

interface Sighting {
  readonly session: Session;
  readonly presence: Presence;
}

function watch(parts: Parameters<typeof createObserver>[0], runtime: Runtime) {
  const { store, ledger, scheduler, clock } = parts;
  const isHere = ({ identity }: Session): boolean => identity.runtime === runtime.kind;
  let misses = 0;
  let sessions = 0;
  let loss = lossIn(store.registry.all().filter(isHere), clock.moment());
  /** Sessions seen since this daemon started; the first sighting of one that was here before is an adoption. */
  const unadopted = new Set(store.registry.living().map((session) => session.id));
  let looking: Promise<void> | null = null;
  let isAskedAgain = false;
  let isClosed = false;

  /** One question at a time; hints that arrive meanwhile cause exactly one more. */
  function look(): Promise<void> {
    if (looking !== null) {
      isAskedAgain = true;
      return looking;
    }
    looking = ask()
      .catch((error: unknown) =>
        parts.log("a look at the runtime failed", { runtime: runtime.kind, why: messageOf(error) }),
      )
      .finally(() => {
        looking = null;
        if (isAskedAgain && !isClosed) {
          isAskedAgain = false;
          void look();
        }
      });
    return looking;
  }

  async function ask(): Promise<void> {
    const known = store.registry
      .living()
      .filter((session) => isHere(session) && session.process.exit === null && session.state !== "planned");
    sessions = known.length;
    if (sessions === 0) {
      // Nothing can be learnt about none; what it has that is nobody's is for the sweep.
      misses = 0;
      return;
    }
    const listing = await runtime.list();
    misses = countMiss(misses, !listing.reachable);
    if (!listing.reachable) {
      const isUnanswered = isEnough(misses);
      if (isUnanswered) await commitUnreachable(await withoutEnded(known), listing);
      const againMs = isUnanswered ? NEXT_LOOK_MS : SECOND_LOOK_MS;
      scheduler.atMost(null, `second look at ${runtime.kind}`, againMs, () => void look());
      return;
    }
    await commitSightings(known, listing);
  }

  /** What is proven to have ended although the runtime does not answer is told; the others are left. */
  async function withoutEnded(known: readonly Session[]): Promise<readonly Session[]> {
    const places = known.map((session) => ({ target: targetOf(session), place: session.process.place }));
    const ended = new Map(
      (runtime.endedUnasked?.(places) ?? []).map((entry) => [keyOf(entry), entry.presence] as const),
    );
    const sightings = known.flatMap<Sighting>((session) => {
      const presence = ended.get(keyOf(targetOf(session)));
      return presence === undefined ? [] : [{ session, presence }];
    });
    const commit = async ({ session, presence }: Sighting): Promise<unknown> =>
      await ledger.apply(session.id, await toInput(session, presence));
    await eachIsolated(parts.log, "recording what was seen", sightings.map(commit));
    return known.filter((session) => !ended.has(keyOf(targetOf(session))));
  }

  async function commitUnreachable(
    known: readonly Session[],
    listing: Extract<Listing, { reachable: false }>,
  ): Promise<void> {
    const evidence = evidenceOf(listing);
    await eachIsolated(
      parts.log,
      "recording what was seen",
      known.map((session) =>
        ledger.apply(session.id, {
          type: "found-unreachable",
          incarnation: session.process.incarnation,
          asked: session.process.place,
          evidence,
        }),
      ),
    );
  }

  async function commitSightings(
    known: readonly Session[],
    listing: Extract<Listing, { reachable: true }>,
  ): Promise<void> {
    const byTarget = new Map(listing.entries.map((entry) => [keyOf(entry), entry.presence]));
    const absent: Presence = { status: "absent", askedAt: listing.askedAt, evidence: listing.evidence };
    const sightings = known.map<Sighting>((session) => ({
      session,
      presence: byTarget.get(keyOf(targetOf(session))) ?? absent,
    }));
    const gone = sightings.filter(
      ({ session, presence }) => presence.status === "absent" && session.wish.stop === null && isStillThere(session),
    );
    const now = clock.moment();
    const isEmpty = sightings.every(({ presence }) => presence.status === "absent");
    const after = afterLook(loss, { isEmpty, gone: gone.length }, now);
    const shared = new Set(gone.filter(({ session }) => isLostWith(after.loss, session, now)));
    const commit = async (sighting: Sighting, also?: HomeEvent): Promise<unknown> => {
      const input = await toInput(sighting.session, sighting.presence);
      const isShared = input.type === "found-absent" && shared.has(sighting);
      return await ledger.apply(sighting.session.id, isShared ? { ...input, isShared } : input, { also });
    };
    const [first] = gone;
    // In one commit with a first death: a daemon that dies here leaves both, or none.
    if (after.isNew && first !== undefined) {
      const evidence = evidenceOf(listing);
      await commit(first, { type: "runtime-lost", runtime: runtime.kind, sessions: gone.length, evidence });
    }
    loss = after.loss;
    await eachIsolated(
      parts.log,
      "recording what was seen",
      sightings.filter(isNews).map((sighting) => commit(sighting)),
    );
  }

  /** As far as the record goes, and at the place that was asked for. */
  function isStillThere({ id, process: { place } }: Session): boolean {
    const now = store.registry.get(id);
    return place !== null && now !== undefined && now.process.exit === null && isSamePlace(now.process.place, place);
  }

  function isNews({ session, presence }: Sighting): boolean {
    if (presence.status !== "running" || session.process.liveness.status !== "running") return true;
    return unadopted.has(session.id) || (presence.isFrozen !== undefined && isFrostNews(session, presence.isFrozen));
  }

  async function toInput(session: Session, presence: Presence): Promise<Observation> {
    const { process } = session;
    const { incarnation } = process;
    const evidence = evidenceOf(presence);
    switch (presence.status) {
      case "running":
        // By the record as it was when that was asked: what Reeve itself did since is no news.
        if (presence.isFrozen !== undefined && isFrostNews(session, presence.isFrozen) && !unadopted.has(session.id))
          return { type: presence.isFrozen ? "found-frozen" : "found-thawed", incarnation, evidence };
        return {
          type: "found-running",
          incarnation,
          place: presence.place,
          shown: runtime.describe(presence.place),
          evidence,
          adopted: unadopted.delete(session.id),
        };
      case "exited": {
        const { code, signal } = presence;
        const failure = await deathKind(session, presence, { ...parts, runtime });
        return { type: "found-exited", incarnation, code, signal, ...(failure === null ? {} : { failure }), evidence };
      }
      case "absent":
        return { type: "found-absent", incarnation, asked: process.place, evidence };
      case "unreachable":
        return { type: "found-unreachable", incarnation, asked: process.place, evidence };
    }
  }

  function tick(): void {
    const again = (): void => void look().finally(() => (isClosed ? undefined : tick()));
    const most = runtime.mostAtFullPace ?? MOST_AT_FULL_PACE;
    const pacedMs = parts.intervalMs * Math.max(1, sessions / most);
    scheduler.after(null, `look at ${runtime.kind}`, pacedMs, again);
  }

  return {
    runtime,
    look,
    lookSoon: () => void look(),
    start: tick,
    async close(): Promise<void> {
      isClosed = true;
      scheduler.cancel(null, `look at ${runtime.kind}`);
      scheduler.cancel(null, `second look at ${runtime.kind}`);
      await looking;
    },
  };
}

function keyOf({ sessionId, incarnation }: Target): string {
  return `${sessionId} ${incarnation}`;
}

/** As of the moment it was asked for: the answer may have taken its time. */
function evidenceOf({ evidence, askedAt }: Pick<Presence, "evidence" | "askedAt">): Evidence {
  return { source: "runtime", detail: evidence, at: askedAt };
}
