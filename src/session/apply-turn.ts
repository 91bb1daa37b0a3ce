/**
 * How a reading begins or ends a turn. Several sources tell of the same turn,
 * in any order: it is recognised by the agent's own id where there is one,
 * else by who spoke first. The first verdict counts; another one is logged.
 */
import type { SessionEvent } from "./event.ts";
import type { Change } from "./outcome.ts";
import type { Reading, TurnReading } from "./reading.ts";
import type { Evidence, LastTurn, Session } from "./session.ts";

type Start = Extract<TurnReading, { phase: "started" }>;
type End = Exclude<TurnReading, Start>;

export function applyTurn(session: Session, reading: Reading, evidence: Evidence): Change {
  const { turn } = reading;
  if (turn === undefined) return { session, events: [] };
  return turn.phase === "started" ? begin(session, turn, evidence) : end(session, turn, evidence);
}

/**
 * It came late: that turn has begun, or ended, or another is under way. It
 * says nothing of what the agent does now either.
 */
export function isOldNews(session: Session, { phase, id, at }: TurnReading): boolean {
  const last = session.lastTurn;
  if (last === null) return false;
  const isBefore = at !== undefined && last.startedAt !== null && at < last.startedAt;
  if (phase !== "started" && session.turnOpen && isBefore) return true;
  if (id === undefined) return false;
  if (last.earlier.includes(id)) return true;
  return phase === "started" && last.id === id;
}

function begin(session: Session, told: Start, evidence: Evidence): Change {
  const id = told.id ?? null;
  const last = session.lastTurn;
  if (isOldNews(session, told)) return { session, events: [] };
  const events: SessionEvent[] = [];
  if (session.turnOpen) {
    if (id === null) return { session, events };
    if (last === null || last.id === null)
      return { session: { ...session, lastTurn: { ...fresh, ...last, id } }, events };
    const why: Evidence = { ...evidence, detail: `another turn began: ${evidence.detail}` };
    events.push({ type: "turn-interrupted", turn: session.turns, evidence: why });
  }
  const turn = session.turns + 1;
  events.push({ type: "turn-started", turn, evidence });
  const lastTurn: LastTurn = { ...fresh, startedAt: told.at ?? evidence.at, id, earlier: withLast(last) };
  return {
    session: { ...session, turns: turn, turnOpen: session.exit === null, lastTurn, stalledAt: null },
    events,
  };
}

const fresh: LastTurn = { startedAt: null, id: null, verdict: null, error: null, verdictSource: null, earlier: [] };

/** More than any source is behind: a transcript that is read after Reeve was away for a while. */
const REMEMBERED_TURNS = 64;

function withLast(last: LastTurn | null): readonly string[] {
  if (last === null || last.id === null) return last?.earlier ?? [];
  return [...last.earlier, last.id].slice(-REMEMBERED_TURNS);
}

function end(session: Session, told: End, evidence: Evidence): Change {
  const last = session.lastTurn;
  const id = told.id ?? null;
  if (isOldNews(session, told)) return { session, events: [] };
  if (session.turnOpen) {
    if (id === null || last === null || last.id === null || last.id === id)
      return close(session, session.turns, told, evidence);
    // Told before its own beginning, and before the end of the one before it (claude 2.1.325: Esc with a queued prompt).
    const why: Evidence = { ...evidence, detail: `another turn ended: ${evidence.detail}` };
    const interrupted: SessionEvent = { type: "turn-interrupted", turn: session.turns, evidence: why };
    const closed = close(session, session.turns + 1, told, evidence);
    return { session: closed.session, events: [interrupted, ...closed.events] };
  }
  if (last !== null && last.verdict !== null && isToldAgain(last, id, evidence)) {
    if (last.verdict === told.phase || last.verdictSource === null) return { session, events: [] };
    const disputed: SessionEvent = {
      type: "turn-disputed",
      turn: session.turns,
      counted: last.verdict,
      countedSource: last.verdictSource,
      other: told.phase,
      evidence,
    };
    return { session, events: [disputed] };
  }
  // A screen shows the last end for as long as nothing happens.
  if (evidence.source === "screen") return { session, events: [] };
  // The process died in a turn, and what it still wrote tells how that ended.
  const isCutShort = session.exit !== null && session.turns > 0 && (last === null || last.verdict === null);
  // An end whose beginning was missed is still an end: nobody may wait for it in vain.
  return close(session, isCutShort ? session.turns : session.turns + 1, told, evidence);
}

function isToldAgain(last: LastTurn, id: string | null, evidence: Evidence): boolean {
  return id !== null && last.id !== null ? id === last.id : evidence.source !== last.verdictSource;
}

function close(session: Session, turn: number, told: End, evidence: Evidence): Change {
  const last = session.lastTurn;
  const isLast = turn === session.turns;
  const lastTurn: LastTurn = {
    startedAt: isLast ? (last?.startedAt ?? null) : null,
    id: told.id ?? (isLast ? (last?.id ?? null) : null),
    verdict: told.phase,
    error: told.phase === "failed" ? told.error : null,
    verdictSource: evidence.source,
    earlier: isLast ? (last?.earlier ?? []) : withLast(last),
  };
  const closed: Session = { ...session, turns: turn, turnOpen: false, lastTurn, stalledAt: null };
  return { session: closed, events: [eventOf(told, turn, evidence)] };
}

function eventOf(told: End, turn: number, evidence: Evidence): SessionEvent {
  switch (told.phase) {
    case "completed":
      return { type: "turn-completed", turn, evidence };
    case "interrupted":
      return { type: "turn-interrupted", turn, evidence };
    case "failed":
      return { type: "turn-failed", turn, error: told.error, evidence };
  }
}
