/**
 * Watches the clock for all sessions: for each it waits for what is due first
 * (session/apply-time-out.ts), and says so to the ledger, which decides once
 * more. What has fired is in the records, so a daemon that is killed anywhere
 * leaves nothing behind that could fire twice, and the next one waits only for
 * the rest.
 */
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { agoOfKeyMs } from "../runtime/last-key.ts";
import { nextTimeOut, type NextTimeOut } from "../session/apply-time-out.ts";
import { lacksCountdown } from "../session/countdown.ts";
import { isEnded, type Session } from "../session/session.ts";
import type { ChosenTimeOuts, TimeOutName } from "../session/time-out.ts";
import type { Store } from "../store/contract.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Scheduler } from "./ledger/scheduler.ts";

export interface TimeOuts {
  /** Plans what its record says, or takes it back. */
  attend(session: Session): void;
  /** From now on they fire; first for what the last daemon left. */
  start(): void;
}

export interface TimeOutsParts {
  readonly store: Pick<Store, "registry" | "mailbox">;
  readonly ledger: Pick<Ledger, "apply">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly chosen: (session: Session) => ChosenTimeOuts;
  /** What happened while nobody watched has been read. */
  readonly isCaughtUp: (session: Session) => boolean;
  readonly canInterrupt: (session: Session) => boolean;
  /** It has something to do, and waits for a usage limit. */
  readonly isParked: (session: Session) => boolean;
  /** When (by the wall clock) somebody last typed in its terminal; null: nobody did, or that is not known. */
  readonly lastTypedAt: (session: Session) => Promise<number | null>;
}

/** What is read after a start is read within a moment. What nobody can read is never caught up with, and nothing is done about it. */
const CATCH_UP_MS = 1_000;
/** What an idle session waits for ends with a commit, as a rule; this is for the case that it does not. */
const BUSY_MS = 10_000;
/** A commit fails while the disk is full, say. */
const RETRY_MS = 10_000;
const PURPOSE = "time-out";

export function createTimeOuts(parts: TimeOutsParts): TimeOuts {
  const { store, ledger, clock, scheduler, log } = parts;
  /** By session: when (monotonic) it is looked at. */
  const planned = new Map<string, number>();
  let isStarted = false;

  function attend(session: Session): void {
    if (!isStarted) return;
    const next = isEnded(session) && session.wish.stay === null ? null : dueOf(session);
    if (next === null) return forget(session.id);
    plan(session.id, next.leftMs);
  }

  function dueOf(session: Session): NextTimeOut | null {
    return nextTimeOut(session, parts.chosen(session), clock.moment());
  }

  /** Most commits change nothing about what is due first. */
  function plan(sessionId: string, leftMs: number): void {
    const dueAt = clock.monotonic() + leftMs;
    const known = planned.get(sessionId);
    if (known !== undefined && Math.abs(known - dueAt) < 5) return;
    planned.set(sessionId, dueAt);
    scheduler.after(sessionId, PURPOSE, leftMs, () => void look(sessionId));
  }

  function forget(sessionId: string): void {
    if (planned.delete(sessionId)) scheduler.cancel(sessionId, PURPOSE);
  }

  async function look(sessionId: string): Promise<void> {
    planned.delete(sessionId);
    const session = store.registry.get(sessionId);
    const next = session === undefined ? null : dueOf(session);
    if (session === undefined || next === null) return;
    try {
      const waitMs = next.leftMs > 0 ? next.leftMs : await obstacleMs(session, next);
      if (waitMs > 0) return plan(sessionId, waitMs);
      await happen(session, next);
      const after = store.registry.get(sessionId);
      if (after !== undefined) attend(after);
    } catch (error) {
      log("a time-out could not be recorded, trying again", { session: sessionId, why: error });
      plan(sessionId, RETRY_MS);
    }
  }

  function happen(session: Session, next: NextTimeOut): Promise<Session> {
    if (next.do !== "fire")
      return ledger.apply(session.id, { type: next.do === "lapse-hold" ? "hold-lapsed" : "hold-ending" });
    const chosen = parts.chosen(session);
    return ledger.apply(session.id, {
      type: "timed-out",
      which: next.which,
      cause: next.cause,
      chosen: chosen[next.which],
      canInterrupt: parts.canInterrupt(session),
      graceMs: chosen.stop_grace.afterMs ?? 0,
    });
  }

  /** How long to wait with something that is due, because it may not be so; 0: not at all. */
  async function obstacleMs(session: Session, next: NextTimeOut): Promise<number> {
    if (next.do !== "fire" || FIRES_ANYWAY.includes(next.which)) return 0;
    if (!parts.isCaughtUp(session)) return CATCH_UP_MS;
    if (next.which !== "idle") return 0;
    if (store.mailbox.open(session.id).length > 0 || parts.isParked(session)) return BUSY_MS;
    return await untilLongIdle(session);
  }

  /** Somebody who types a long prompt is something that happens. */
  async function untilLongIdle(session: Session): Promise<number> {
    const typedAt = await parts.lastTypedAt(session).catch(() => null);
    const agoMs = agoOfKeyMs(typedAt, clock.now());
    const { afterMs } = parts.chosen(session).idle;
    return agoMs === null || afterMs === null || agoMs >= afterMs ? 0 : afterMs - agoMs;
  }

  return {
    attend,
    start() {
      isStarted = true;
      for (const session of store.registry.all()) {
        if (isEnded(session) || !lacksCountdown(session)) attend(session);
        else
          ledger
            .apply(session.id, { type: "counted" })
            .catch((error: unknown) => log("counting could not begin", { session: session.id, why: error }));
      }
    },
  };
}

/** Nothing that was left unread makes a session younger, or lets its processes live on. */
const FIRES_ANYWAY: readonly TimeOutName[] = ["stop_grace", "age"];
