/**
 * What only this daemon's clocks know of closed gates. A reset is a moment on
 * the vendor's clock: it is turned into a wait when it is learnt, and counted on
 * a clock that nobody sets and that goes on while the machine sleeps. So a wall
 * clock that jumps opens no gate early and keeps none closed. The next daemon
 * starts from the recorded moment, and waits at most as long as the wait was.
 */
import type { Clock } from "../../platform/clock.ts";
import { type ClosedQuota, isClosed, type Quota } from "../../fleet/quota.ts";
import type { Passed } from "../../fleet/quota-gate.ts";
import type { LimitReading } from "../../session/limit.ts";
import type { Session } from "../../session/session.ts";

export interface GateTimes extends Passed {
  /** Its record is this now. */
  attend(quota: Quota): void;
  /** An agent was answered, and said so. */
  hear(session: Session, limits: readonly LimitReading[], quotas: readonly Quota[]): void;
  /** The next in its queue may go. */
  readonly isReleaseDue: (quota: ClosedQuota) => boolean;
  /** In how long the gate is to be looked at although nothing is told of it. */
  readonly nextLookMs: (quota: ClosedQuota) => number;
}

/** A timer does not go on while the machine sleeps: a long wait is looked at again so often. */
const LOOK_AGAIN_MS = 30_000;
const CANARY_LOOK_MS = 1_000;

interface Times {
  /** The recorded moment that this was made of. */
  readonly dueAt: number;
  readonly dueUptime: number;
  canary: { readonly sessionId: string; readonly since: number; hasAnswered: boolean } | null;
  readonly tried: Set<string>;
  releaseAt: number | null;
}

export function createGateTimes(clock: Clock, staggerMs: number): GateTimes {
  const known = new Map<string, Times>();

  function timesOf({ id, gate }: ClosedQuota): Times {
    const times = known.get(id);
    if (times?.dueAt === gate.dueAt) return times;
    const leftMs = Math.min(gate.waitMs, Math.max(0, gate.dueAt - clock.now()));
    const fresh: Times = {
      dueAt: gate.dueAt,
      dueUptime: clock.uptime() + leftMs,
      canary: null,
      tried: new Set(),
      releaseAt: null,
    };
    known.set(id, fresh);
    return fresh;
  }

  /** The first right away, the others one after another, not all in step with those of other accounts. */
  const pauseMs = (): number => staggerMs * (0.75 + Math.random() / 2);

  function attend(quota: Quota): void {
    if (!isClosed(quota)) return void known.delete(quota.id);
    const times = timesOf(quota);
    const { phase, canary } = quota.gate;
    if (canary?.sessionId !== times.canary?.sessionId) {
      if (canary !== null) times.tried.add(canary.sessionId);
      times.canary =
        canary === null ? null : { sessionId: canary.sessionId, since: clock.monotonic(), hasAnswered: false };
    }
    times.releaseAt = phase === "opening" ? clock.monotonic() + pauseMs() : null;
  }

  const leftMs = (quota: ClosedQuota): number => timesOf(quota).dueUptime - clock.uptime();
  const releaseLeftMs = (quota: ClosedQuota): number => (timesOf(quota).releaseAt ?? Infinity) - clock.monotonic();

  return {
    attend,
    leftMs,
    canaryMs: (quota) => clock.monotonic() - (timesOf(quota).canary?.since ?? clock.monotonic()),
    wasAnswered: (quota, sessionId) => {
      const { canary } = timesOf(quota);
      return canary?.sessionId === sessionId && canary.hasAnswered;
    },
    wasTried: (quota, sessionId) => timesOf(quota).tried.has(sessionId),
    hear({ id, conversation }, limits, quotas) {
      for (const quota of quotas.filter(isClosed)) {
        const { canary } = timesOf(quota);
        const hasBegun = conversation.turns > (quota.gate.canary?.turns ?? Infinity);
        if (canary?.sessionId !== id || !hasBegun) continue;
        if (limits.some(({ limit, status }) => limit === quota.limit && status !== "rejected"))
          canary.hasAnswered = true;
      }
    },
    isReleaseDue: (quota) => quota.gate.phase === "opening" && releaseLeftMs(quota) <= 0,
    nextLookMs(quota) {
      switch (quota.gate.phase) {
        case "waiting":
          return Math.min(LOOK_AGAIN_MS, Math.max(1, leftMs(quota)));
        case "probing":
          return quota.gate.canary === null ? LOOK_AGAIN_MS : CANARY_LOOK_MS;
        case "opening":
          return Math.max(1, releaseLeftMs(quota));
      }
    },
  };
}
