/**
 * Decides when soft readings (screen, title, status file) reach the record. If
 * one contradicts the record, it counts only if the source, asked again after a
 * while, still says the same. A reading of one incarnation says nothing about
 * the next.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Reading } from "../../session/reading.ts";
import type { Evidence, Session } from "../../session/session.ts";
import { settleSoft, weighSoft } from "../../session/weigh-soft.ts";
import { outranks } from "../../session/witness.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { createTrials } from "./trials.ts";
import type { Incarnation, Readings } from "./readings.ts";

/** Hooks arrive within milliseconds; a busy machine may hold one back for a second or two. */
export const STAYS_MS = 2_500;

type Via = "screen" | "status";

/** Against a turn under way a screen that merely looks idle must stay so for longer: gemini 0.61.0 stands still for 8 s over a long prompt. */
const BARE_IDLE_FACTOR = 5;
/** On a busy machine that takes longer, and the agent uses the processor all the while; an idle one uses less of a core than this. */
const BUSY_SHARE = 0.1;
/** Something else of it may be busy for good. */
const BUSY_FACTOR = 30;

function isBareIdle(via: Via, session: Session, reading: Reading): boolean {
  const isDone = session.conversation.lastTurn?.isEnding === true;
  return (
    via === "screen" &&
    session.conversation.turnOpen &&
    !isDone &&
    reading.activity === "idle" &&
    reading.turn === undefined
  );
}

/** As people call them. */
const NAMES = {
  protocol: "agent's protocol",
  hook: "hook",
  transcript: "transcript",
  status: "status file",
  screen: "screen",
  operator: "start",
  session: "start",
  runtime: "runtime",
  supervisor: "clock",
} as const satisfies Record<Evidence["source"], string>;

function whyIgnored({ conversation: { activity } }: Session, reading: Reading): string {
  const { source } = activity.evidence;
  if (reading.activity === activity.status) return `ignored: already known from the ${NAMES[source]}`;
  if (outranks(source, reading.source)) return `ignored: the ${NAMES[source]} says ${activity.status}, and counts more`;
  return "ignored: it does not report the end of a turn or a question";
}

interface Doubt {
  readonly key: string;
  readonly since: number;
  /** When its processor time was last looked at, and how much that was. */
  readonly used: { readonly at: number; readonly ms: number } | null;
}

export interface SoftWatch {
  /** `of`: the incarnation that was looked at. `ask` reads the same source again; `via` tells the sources apart. */
  weigh(of: Incarnation, via: Via, reading: Reading, ask: () => Promise<Reading | null>): Promise<void>;
  forget(sessionId: string): void;
}

function purposeOf(via: Via): string {
  return `doubted ${via}`;
}

export function createSoftWatch(parts: {
  readonly store: Store;
  readonly readings: Readings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly staysMs: number;
  /** Processor time that the agent itself has used, in milliseconds; null where that cannot be seen. */
  readonly processorMs?: (session: Session) => Promise<number | null>;
}): SoftWatch {
  const { store, readings, staysMs } = parts;
  /** Since when (monotonic) a source has been saying the same thing that the record does not. */
  const doubts = new Map<string, Doubt>();

  const trials = createTrials(parts.scheduler);

  function dismiss(sessionId: string, via: Via): void {
    trials.over(sessionId, purposeOf(via));
    parts.scheduler.cancel(sessionId, purposeOf(via));
    doubts.delete(`${sessionId} ${via}`);
  }

  async function used(session: Session): Promise<Doubt["used"]> {
    const ms = (await parts.processorMs?.(session).catch(() => null)) ?? null;
    return ms === null ? null : { at: parts.clock.monotonic(), ms };
  }

  /** It has worked since it was last looked at: what its screen shows may be old. Looks again later. */
  async function isBusy(session: Session, via: Via, doubt: Doubt): Promise<boolean> {
    if (parts.clock.monotonic() - doubt.since > staysMs * BUSY_FACTOR) return false;
    const now = await used(session);
    if (doubt.used === null || now === null) return false;
    const isMuch = now.ms - doubt.used.ms >= (now.at - doubt.used.at) * BUSY_SHARE;
    if (isMuch) doubts.set(`${session.id} ${via}`, { ...doubt, used: now });
    return isMuch;
  }

  async function weigh(of: Incarnation, via: Via, reading: Reading, ask: () => Promise<Reading | null>): Promise<void> {
    const sessionId = of.id;
    const session = store.registry.get(sessionId);
    if (
      session === undefined ||
      session.process.incarnation !== of.process.incarnation ||
      session.process.exit !== null
    )
      return;
    const weight = weighSoft(session, reading);
    if (weight === "no") {
      if (reading.activity === session.conversation.activity.status) dismiss(sessionId, via);
      return readings.note(session, reading, whyIgnored(session, reading));
    }
    if (weight === "now") {
      dismiss(sessionId, via);
      return readings.take(session, reading);
    }
    const key = JSON.stringify([
      session.process.incarnation,
      session.conversation.turns,
      reading.activity,
      reading.turn?.phase ?? null,
    ]);
    const doubt = doubts.get(`${sessionId} ${via}`);
    const isBare = isBareIdle(via, session, reading);
    const patienceMs = isBare ? staysMs * BARE_IDLE_FACTOR : staysMs;
    if (doubt?.key === key) {
      if (parts.clock.monotonic() - doubt.since < patienceMs - 20) return;
      if (isBare && (await isBusy(session, via, doubt)))
        return parts.scheduler.after(sessionId, purposeOf(via), staysMs, () => void again(of, via, ask));
      dismiss(sessionId, via);
      return readings.take(session, settleSoft(session, reading));
    }
    dismiss(sessionId, via);
    const { source } = session.conversation.activity.evidence;
    const since = parts.clock.monotonic();
    doubts.set(`${sessionId} ${via}`, { key, since, used: isBare ? await used(session) : null });
    parts.scheduler.after(sessionId, purposeOf(via), patienceMs, () => void again(of, via, ask));
    const why = `not counted yet: it contradicts the ${NAMES[source]}; it counts if it does not change`;
    await readings.note(session, reading, why);
  }

  async function again(of: Incarnation, via: Via, ask: () => Promise<Reading | null>): Promise<void> {
    try {
      const reading = await ask();
      if (reading === null) dismiss(of.id, via);
      else await weigh(of, via, reading, ask);
    } catch (error) {
      if (trials.failed(of.id, purposeOf(via), () => void again(of, via, ask)))
        parts.log("a second look at a session failed; tried again", { session: of.id, why: messageOf(error) });
    }
  }

  return {
    weigh,
    forget(sessionId) {
      dismiss(sessionId, "screen");
      dismiss(sessionId, "status");
    },
  };
}
