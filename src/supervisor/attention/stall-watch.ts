/**
 * Notices a turn from which nothing was heard for a while. (An agent that never
 * says that it is ready is a time-out: session/time-out.ts.) A terminal that keeps drawing a spinner does not
 * count as a sign of life. A command of the turn that uses the processor does;
 * and time in which the daemon was stopped does not count as silence.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { isHung } from "../../session/health.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import type { Readings } from "./readings.ts";
import type { Watcher } from "./watcher.ts";

export function createStallWatch(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly readings: Readings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly stallAfterMs: number;
  /** When (monotonic) what the turn under way runs was last seen at work; null: it was not. */
  readonly workedAt: (sessionId: string) => number | null;
}): Watcher {
  const { store, readings, clock } = parts;
  /** What each session is being watched for. */
  const phases = new Map<string, string>();

  /** What it is being watched for now; a new turn or a new start begins anew. */
  function phaseOf(session: Session): string | null {
    const { process, conversation } = session;
    if (process.exit !== null || process.suspended || session.state !== "running" || isHung(session)) return null;
    const isWorking =
      conversation.turnOpen && conversation.activity.status === "working" && conversation.stalledAt === null;
    return isWorking ? `turn ${conversation.turns} ${conversation.activity.evidence.at}` : null;
  }

  function arm(sessionId: string, phase: string, since: number): void {
    const left = Math.max(0, since + parts.stallAfterMs - clock.monotonic());
    phases.set(sessionId, phase);
    parts.scheduler.after(sessionId, "stall", left, () => void lapse(sessionId, phase, since));
  }

  async function lapse(sessionId: string, phase: string, since: number): Promise<void> {
    try {
      const session = store.registry.get(sessionId);
      if (session === undefined || phaseOf(session) !== phase) return stop(sessionId);
      const sign = Math.max(
        since,
        readings.lastSignAt(session) ?? 0,
        parts.scheduler.lastGapAt(),
        parts.workedAt(sessionId) ?? 0,
      );
      if (sign + parts.stallAfterMs > clock.monotonic() + 1) return arm(sessionId, phase, sign);
      await report(session);
    } catch (error) {
      parts.log("a stall could not be recorded", { session: sessionId, why: messageOf(error) });
    }
  }

  async function report(session: Session): Promise<void> {
    const seconds = Math.round(parts.stallAfterMs / 1_000);
    const detail = `no sign of life for ${seconds} s in a turn under way`;
    const evidence = { source: "supervisor", detail, at: clock.now() } as const;
    await parts.ledger.apply(session.id, { type: "stalled", incarnation: session.process.incarnation, evidence });
  }

  function stop(sessionId: string): void {
    parts.scheduler.cancel(sessionId, "stall");
    phases.delete(sessionId);
  }

  return {
    attend(session) {
      const phase = phaseOf(session);
      if (phase === (phases.get(session.id) ?? null)) return;
      stop(session.id);
      if (phase !== null) arm(session.id, phase, clock.monotonic());
    },
    async leave(session) {
      stop(session.id);
    },
    async close() {
      for (const sessionId of phases.keys()) stop(sessionId);
    },
  };
}
