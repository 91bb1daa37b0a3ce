/**
 * What a session has been told of the sessions that it started: a cursor into
 * the log, moved in the same commit as what told it. Everything at or below it
 * is known to the session and never wakes it again.
 */
import { amend } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import type { MessageState } from "./message.ts";
import type { OpenWake } from "./wake-cursor.ts";
import type { Session } from "./session.ts";

type WakeRecord = Session["wakes"];

/** What a session was told without a wake: of one session that it started, or of all of them (null), up to here. */
export interface Told {
  readonly sessionId: string | null;
  readonly through: number;
}

/** Whether the session knows of this event of `sessionId` already. */
export function isTold({ acknowledged, told }: WakeRecord, sessionId: string, seq: number): boolean {
  return seq <= acknowledged || seq <= (told[sessionId] ?? 0);
}

/**
 * The record after it was told. `due`: the events that it was to be woken for,
 * up to `head`. If none of them is left, everything up to there is known.
 */
export function withTold(
  before: WakeRecord,
  news: readonly Told[],
  {
    due,
    head,
  }: { readonly due: readonly { readonly sessionId: string; readonly seq: number }[]; readonly head: number },
): WakeRecord {
  let { acknowledged } = before;
  const told: Record<string, number> = { ...before.told };
  for (const { sessionId, through } of news) {
    if (sessionId === null) acknowledged = Math.max(acknowledged, through);
    else told[sessionId] = Math.max(told[sessionId] ?? 0, through);
  }
  const left = due.find(({ sessionId, seq }) => !isTold({ ...before, acknowledged, told }, sessionId, seq));
  return movedTo({ ...before, told }, Math.max(acknowledged, left === undefined ? head : left.seq - 1));
}

export function withWake(session: Session, open: OpenWake): Session {
  return next(session, { open });
}

/** How a wake came out; `dropped`: somebody cancelled it, so it is not sent again. */
export type WakeOutcome = MessageState | "dropped";

/** If this message is the session's open wake: the record once that has its outcome, and what is logged of it. */
export function wakeSettled(
  session: Session,
  messageId: string,
  outcome: WakeOutcome,
): { readonly session: Session; readonly events: readonly SessionEvent[] } | null {
  const { open } = session.wakes;
  if (open?.messageId !== messageId || outcome === "admitted" || outcome === "leased") return null;
  switch (outcome) {
    case "delivered": {
      const { since, through, count } = open;
      const restarted = open.recovers > 0 ? ({ isRecovery: true } as const) : {};
      const sent: SessionEvent = { type: "wake-sent", messageId, since, through, count, ...restarted };
      return { session: next(session, toldBy(session, open)), events: [sent] };
    }
    case "dropped":
      return { session: next(session, toldBy(session, open)), events: [] };
    case "unknown":
      return { session: next(session, doubted(session, open)), events: [] };
    case "refused":
      return { session: next(session, { open: null }), events: [] };
  }
}

function toldBy(
  { wakes, process: { incarnation } }: Session,
  { through, mailThrough, recovers }: OpenWake,
): WakeRecord {
  const mail = Math.max(wakes.mail, mailThrough);
  const recovered = Math.max(wakes.recovered, recovers);
  return { ...movedTo(wakes, through), mail, recovered, wokenIncarnation: incarnation, open: null };
}

/**
 * Nobody saw whether it arrived. If a turn has begun since, the session is
 * awake, and is not told again. If none has, the events are told once more,
 * because a death that nobody tells would be worse; but not a third time. That
 * it was restarted in a turn is never told twice: it would cost a turn.
 */
function doubted(session: Session, open: OpenWake): WakeRecord {
  const { wakes, conversation } = session;
  const isAwake = conversation.turns > open.turns;
  const isSecond = wakes.doubted > open.since || (wakes.doubted > 0 && wakes.doubted === open.through);
  if (isAwake || isSecond) return toldBy(session, open);
  return { ...wakes, doubted: open.through, recovered: Math.max(wakes.recovered, open.recovers), open: null };
}

function movedTo(wakes: WakeRecord, through: number): WakeRecord {
  const acknowledged = Math.max(wakes.acknowledged, through);
  const ahead = Object.entries(wakes.told).filter(([, seq]) => seq > acknowledged);
  return { ...wakes, acknowledged, told: Object.fromEntries(ahead) };
}

function next(session: Session, wakes: Partial<WakeRecord>): Session {
  return amend({ ...session, revision: session.revision + 1 }, { wakes });
}
