/**
 * Asks the runtimes what is there and feeds the answers to the ledger: at once
 * when a runtime hints at a change, and every few seconds regardless. An answer
 * only counts for sessions, and the places they had, that were known before the
 * question was asked. A session is unreachable only after two questions without
 * an answer.
 */
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { messageOf } from "../platform/reeve-error.ts";
import type { Listing, Presence, Runtime } from "../runtime/contract.ts";
import type { Health } from "../session/health.ts";
import { healthy, judge } from "../session/health.ts";
import type { Observation } from "../session/input.ts";
import type { Evidence, Session } from "../session/session.ts";
import { isSamePlace } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { eachIsolated } from "../platform/isolated.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Scheduler } from "./ledger/scheduler.ts";

/** A second question soon after an unanswered one, so that the verdict does not take a whole interval. */
const SECOND_LOOK_MS = 500;

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

function watch(parts: Parameters<typeof createObserver>[0], runtime: Runtime) {
  const { store, ledger, scheduler } = parts;
  let health: Health = healthy;
  /** Sessions seen since this daemon started; the first sighting of one that was here before is an adoption. */
  const unadopted = new Set(store.registry.all().map((session) => session.id));
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
      .all()
      .filter(
        (session) =>
          session.identity.runtime === runtime.kind && session.process.exit === null && session.state !== "planned",
      );
    const listing = await runtime.list();
    const verdict = judge(health, listing.reachable);
    health = verdict.health;
    if (!listing.reachable) {
      if (!verdict.unreachable)
        scheduler.atMost(null, `second look at ${runtime.kind}`, SECOND_LOOK_MS, () => void look());
      else await commitUnreachable(known, listing);
      return;
    }
    await commitSightings(known, listing);
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
    const byTarget = new Map(
      listing.entries.map((entry) => [`${entry.sessionId} ${entry.incarnation}`, entry.presence]),
    );
    const absent: Presence = { status: "absent", askedAt: listing.askedAt, evidence: listing.evidence };
    const sightings = known.map((session) => ({
      session,
      presence: byTarget.get(`${session.id} ${session.process.incarnation}`) ?? absent,
    }));
    const gone = sightings.filter(
      ({ session, presence }) => presence.status === "absent" && session.wish.stop === null && isStillThere(session),
    );
    if (gone.length > 1 && sightings.every((sighting) => sighting.presence.status === "absent")) {
      const evidence = evidenceOf(listing);
      await ledger.note({ type: "runtime-lost", runtime: runtime.kind, sessions: gone.length, evidence });
    }
    await eachIsolated(
      parts.log,
      "recording what was seen",
      sightings.filter(isNews).map(({ session, presence }) => ledger.apply(session.id, toInput(session, presence))),
    );
  }

  /** As far as the record goes, and at the place that was asked for. */
  function isStillThere({ id, process: { place } }: Session): boolean {
    const now = store.registry.get(id);
    return place !== null && now !== undefined && now.process.exit === null && isSamePlace(now.process.place, place);
  }

  function isNews({ session, presence }: { readonly session: Session; readonly presence: Presence }): boolean {
    return presence.status !== "running" || session.process.liveness.status !== "running" || unadopted.has(session.id);
  }

  function toInput(session: Session, presence: Presence): Observation {
    const { process } = session;
    const { incarnation } = process;
    const evidence = evidenceOf(presence);
    switch (presence.status) {
      case "running":
        return {
          type: "found-running",
          incarnation,
          place: presence.place,
          shown: runtime.describe(presence.place),
          evidence,
          adopted: unadopted.delete(session.id),
        };
      case "exited":
        return { type: "found-exited", incarnation, code: presence.code, signal: presence.signal, evidence };
      case "absent":
        return { type: "found-absent", incarnation, asked: process.place, evidence };
      case "unreachable":
        return { type: "found-unreachable", incarnation, asked: process.place, evidence };
    }
  }

  function tick(): void {
    const again = (): void => void look().finally(() => (isClosed ? undefined : tick()));
    scheduler.after(null, `look at ${runtime.kind}`, parts.intervalMs, again);
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

/** As of the moment it was asked for: the answer may have taken its time. */
function evidenceOf({ evidence, askedAt }: Pick<Presence, "evidence" | "askedAt">): Evidence {
  return { source: "runtime", detail: evidence, at: askedAt };
}
