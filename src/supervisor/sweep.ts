/**
 * Finds what carries this home's mark but belongs to no living session: places
 * and processes. It first reports what it found and leaves it alone
 * (quarantine); what is still there after the grace period is ended. It never
 * acts on anything without the mark.
 */
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { messageOf } from "../platform/reeve-error.ts";
import type { ListingEntry, Runtime, Target } from "../runtime/contract.ts";
import type { Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Scheduler } from "./ledger/scheduler.ts";

export interface Orphan extends Target {
  readonly what: string;
  /** On the monotonic clock. */
  readonly foundAt: number;
}

export interface Sweep {
  run(): Promise<void>;
  start(): void;
  orphans(): readonly Orphan[];
  close(): Promise<void>;
}

const REAP_GRACE_MS = 2_000;

export function createSweep(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly runtimes: readonly Runtime[];
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly graceMs: number;
  readonly intervalMs: number;
}): Sweep {
  const found = new Map<string, Orphan & { readonly runtime: Runtime }>();
  let running: Promise<void> | null = null;
  let isClosed = false;

  async function sweep(): Promise<void> {
    for (const runtime of parts.runtimes) await sweepOne(runtime).catch(report(runtime.kind));
  }

  function report(what: string): (error: unknown) => void {
    return (error) => parts.log("looking for left-over processes failed", { what, why: messageOf(error) });
  }

  async function sweepOne(runtime: Runtime): Promise<void> {
    const listing = await runtime.list();
    // What cannot be asked cannot be swept.
    if (!listing.reachable) return;
    const places = listing.entries.filter((entry) => !ownsPlace(parts.store.registry.get(entry.sessionId), entry));
    const strays = await runtime.findStrays((target) =>
      ownsProcesses(parts.store.registry.get(target.sessionId), target),
    );
    const candidates = new Map<string, string>();
    for (const place of places) candidates.set(keyOf(place), describePlace(runtime, place));
    for (const stray of strays) candidates.set(keyOf(stray), stray.what);
    await quarantine(runtime, candidates);
    await reap(runtime);
  }

  async function quarantine(runtime: Runtime, candidates: ReadonlyMap<string, string>): Promise<void> {
    for (const [key, orphan] of found) if (orphan.runtime === runtime && !candidates.has(key)) found.delete(key);
    for (const [key, what] of candidates) {
      if (found.has(key)) continue;
      found.set(key, { ...targetOfKey(key), what, foundAt: parts.clock.monotonic(), runtime });
      await parts.ledger.note({
        type: "orphan-found",
        what,
        evidence: evidence(`its REEVE_MARK names ${key}, which is not a living session`),
      });
    }
  }

  async function reap(runtime: Runtime): Promise<void> {
    for (const [key, orphan] of found) {
      if (orphan.runtime !== runtime || parts.clock.monotonic() - orphan.foundAt < parts.graceMs) continue;
      await reapOne(key, orphan, runtime).catch(report(orphan.what));
    }
  }

  async function reapOne(key: string, orphan: Orphan, runtime: Runtime): Promise<void> {
    const { survivors, evidence: proof } = await runtime.stop(orphan, { graceMs: REAP_GRACE_MS });
    if (survivors.length > 0) return;
    await runtime.destroy(orphan);
    found.delete(key);
    await parts.ledger.note({ type: "orphan-reaped", what: orphan.what, evidence: evidence(proof) });
  }

  function evidence(detail: string) {
    return { source: "runtime", detail, at: parts.clock.now() } as const;
  }

  function run(): Promise<void> {
    running ??= sweep()
      .catch(report("all of it"))
      .finally(() => (running = null));
    return running;
  }

  function tick(): void {
    const again = (): void => void run().finally(() => (isClosed ? undefined : tick()));
    parts.scheduler.after(null, "sweep", parts.intervalMs, again);
  }

  return {
    run,
    start: tick,
    orphans: () => [...found.values()],
    async close() {
      isClosed = true;
      parts.scheduler.cancel(null, "sweep");
      await running;
    },
  };
}

/** A dead session keeps its place (screen and environment) until it is ended. */
function ownsPlace(session: Session | undefined, target: Target): boolean {
  if (session === undefined || session.process.incarnation !== target.incarnation)
    return session !== undefined && session.wish.stop === null && session.state === "starting";
  return session.wish.stop !== null || session.wish.desired !== "stopped" || session.state !== "stopped";
}

function ownsProcesses(session: Session | undefined, target: Target): boolean {
  if (session === undefined || session.process.incarnation !== target.incarnation) return false;
  return session.process.exit === null || session.wish.stop !== null;
}

function describePlace(runtime: Runtime, entry: ListingEntry): string {
  if (entry.presence.status !== "running") return `the terminal of ${keyOf(entry)}`;
  const { id, text } = runtime.describe(entry.presence.place);
  return id === null ? text : `${id} (${text})`;
}

function keyOf(target: Target): string {
  return `${target.sessionId}.${target.incarnation}`;
}

function targetOfKey(key: string): Target {
  const dot = key.lastIndexOf(".");
  return { sessionId: key.slice(0, dot), incarnation: Number(key.slice(dot + 1)) };
}
