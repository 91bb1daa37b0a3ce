/**
 * Looks at the processes of all sessions that should be working, with one
 * question to each runtime, and commits what changed. It types nothing and
 * reads no screen. While no session has anything to do it asks nothing. What it
 * has seen is in memory only: after a gap, and when the daemon starts, it looks
 * again before it says anything.
 */
import type { Channel } from "../../agent/contract.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime, VitalsEntry } from "../../runtime/contract.ts";
import {
  afterLook,
  beginExamination,
  type Examination,
  findingOf,
  forgetLooks,
  seenIn,
  signsOf,
} from "../../session/examination.ts";
import { isHung, type Pulse, shouldRun } from "../../session/health.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { targetOf } from "../ledger/target.ts";
import type { Readings } from "./readings.ts";
import type { Watcher } from "./watcher.ts";

/** The first look at a turn tells the agent's own processes from those that its turn runs, so it comes soon. */
const FIRST_LOOK_MS = 250;
/** An answer that took so long says nothing about now. */
const LONGEST_LOOK_MS = 5_000;
/** A look a moment after the one before would make two misses of one. */
const LEAST_APART = 0.9;
/** Silence is worth a word long before it is worth an alarm. */
const SLOW_SHARE = 0.2;

export interface HealthWatch extends Watcher {
  /** Something was drawn on its terminal. */
  notice(sessionId: string): void;
  /** When (monotonic) what its turn runs was last seen at work. */
  workedAt(sessionId: string): number | null;
  /** For people: what was seen of it, a sentence each. */
  signs(sessionId: string): readonly string[];
}

interface Watched {
  readonly phase: string;
  examination: Examination;
  /** Since when its protocol has not answered; null where it has, or was not asked. */
  unansweredSince: number | null;
  isAsking: boolean;
}

interface Due {
  readonly session: Session;
  readonly entry: Watched;
}

export function createHealthWatch(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly readings: Readings;
  readonly runtime: (kind: string) => Pick<Runtime, "vitals">;
  readonly channel: (sessionId: string) => Pick<Channel, "ping"> | null;
  /** Nothing of a session that should work was found: whether it is gone is for the runtime to say. */
  readonly onNothingFound: () => void;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly intervalMs: number;
  readonly stallAfterMs: number;
}): HealthWatch {
  const { store, ledger, clock, scheduler } = parts;
  const watched = new Map<string, Watched>();
  const drewAt = new Map<string, number>();
  /** What was there when nothing was expected of it any more, such as a server that an earlier turn started. */
  const leftBehind = new Map<string, ReadonlySet<string>>();
  const looking = new Map<string, Promise<void>>();
  let isClosed = false;

  function lookWithin(ms: number): void {
    if (!isClosed) scheduler.atMost(null, "health", ms, look);
  }

  /** Each runtime is asked one question at a time. One that does not answer is the observer's business. */
  function look(): void {
    const due = [...watched].flatMap(([id, entry]) => {
      const session = store.registry.get(id);
      return session !== undefined && isDue(entry) ? [{ session, entry }] : [];
    });
    for (const [kind, those] of Map.groupBy(due, ({ session }) => session.identity.runtime)) {
      if (looking.has(kind)) continue;
      const asked = lookAt(kind, those)
        .catch((error: unknown) =>
          parts.log("a look at the processes of sessions failed", { runtime: kind, why: messageOf(error) }),
        )
        .finally(() => looking.delete(kind));
      looking.set(kind, asked);
    }
    if (watched.size > 0) lookWithin(parts.intervalMs);
  }

  function isDue({ examination: { last } }: Watched): boolean {
    return last === null || clock.monotonic() - last.at >= parts.intervalMs * LEAST_APART;
  }

  async function lookAt(kind: string, due: readonly Due[]): Promise<void> {
    const askedAt = clock.monotonic();
    for (const { session, entry } of due) ask(session.id, entry);
    const sessions = due.map(({ session }) => ({ target: targetOf(session), place: session.process.place }));
    const vitals = await parts.runtime(kind).vitals(sessions);
    if (!vitals.reachable || clock.monotonic() - askedAt > LONGEST_LOOK_MS) return;
    const byId = new Map(vitals.entries.map((entry) => [entry.sessionId, entry]));
    for (const { session, entry } of due) await take(session.id, entry, byId.get(session.id), askedAt);
  }

  /** Whether its protocol answers; what it is asked concerns no conversation. */
  function ask(sessionId: string, entry: Watched): void {
    const channel = parts.channel(sessionId);
    if (channel === null) entry.unansweredSince = null;
    if (channel === null || entry.isAsking) return;
    entry.isAsking = true;
    entry.unansweredSince ??= clock.monotonic();
    const answered = (): void => void (entry.unansweredSince = null);
    channel
      .ping()
      .then(answered, () => undefined)
      .finally(() => (entry.isAsking = false));
  }

  async function take(id: string, entry: Watched, seen: VitalsEntry | undefined, at: number): Promise<void> {
    const session = store.registry.get(id);
    if (session === undefined || watched.get(id) !== entry || seen?.incarnation !== session.process.incarnation) return;
    const gapAt = scheduler.lastGapAt();
    if (gapAt > Math.max(entry.examination.since, entry.examination.last?.at ?? 0)) {
      entry.examination = forgetLooks(entry.examination, gapAt);
      entry.unansweredSince = null;
    }
    if (seen.processes.length === 0) parts.onNothingFound();
    entry.examination = afterLook(entry.examination, {
      at,
      processes: seen.processes,
      heardAt: parts.readings.lastSignAt(session),
      drewAt: drewAt.get(id) ?? null,
      unansweredSince: entry.unansweredSince,
    });
    const { verdict, detail } = findingOf(entry.examination, {
      isWorking: session.conversation.activity.status === "working" && session.conversation.stalledAt === null,
      wasHung: isHung(session),
      slowAfterMs: parts.stallAfterMs * SLOW_SHARE,
    });
    await commit(session, verdict, detail);
  }

  async function commit(session: Session, verdict: Pulse["verdict"], detail: string): Promise<void> {
    if (verdict === (session.process.pulse?.verdict ?? "healthy")) return;
    const pulse = { verdict, evidence: { source: "runtime", detail, at: clock.now() } } as const;
    await ledger
      .apply(session.id, { type: "examined", incarnation: session.process.incarnation, pulse })
      .catch((error: unknown) =>
        parts.log("what its processes showed was not recorded", { session: session.id, why: messageOf(error) }),
      );
  }

  function forget(sessionId: string): void {
    const entry = watched.get(sessionId);
    if (entry === undefined) return;
    leftBehind.set(sessionId, seenIn(entry.examination));
    watched.delete(sessionId);
    if (watched.size === 0) scheduler.cancel(null, "health");
  }

  return {
    attend(session) {
      const phase = phaseOf(session);
      if (phase === null) {
        forget(session.id);
        return void commit(session, "healthy", "nothing is expected of its processes now");
      }
      if (phase === watched.get(session.id)?.phase) return;
      forget(session.id);
      const examination = beginExamination(clock.monotonic(), leftBehind.get(session.id));
      watched.set(session.id, { phase, examination, unansweredSince: null, isAsking: false });
      lookWithin(Math.min(FIRST_LOOK_MS, parts.intervalMs));
    },
    notice: (sessionId) => void drewAt.set(sessionId, clock.monotonic()),
    workedAt: (sessionId) => watched.get(sessionId)?.examination.workedAt ?? null,
    signs(sessionId) {
      const examination = watched.get(sessionId)?.examination;
      return examination === undefined ? [] : signsOf(examination, clock.monotonic());
    },
    async leave(session) {
      forget(session.id);
      drewAt.delete(session.id);
      leftBehind.delete(session.id);
    },
    async close() {
      isClosed = true;
      watched.clear();
      scheduler.cancel(null, "health");
      await Promise.all(looking.values());
    },
  };
}

/** What it is expected to do; with another turn or process it is examined anew. */
function phaseOf(session: Session): string | null {
  const { process, conversation } = session;
  if (!shouldRun(session)) return null;
  return `${process.incarnation} ${conversation.turnOpen ? conversation.turns : "starting"}`;
}
