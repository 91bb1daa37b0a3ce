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

/** It came late: that turn has ended, or another is under way. */
export function isOfAnEarlierTurn(session: Session, { phase, id }: TurnReading): boolean {
  const last = session.lastTurn;
  if (id === undefined || last === null || last.id === null) return false;
  return phase === "started" ? last.id === id && !session.turnOpen : session.turnOpen && last.id !== id;
}

function begin(session: Session, told: Start, evidence: Evidence): Change {
  const id = told.id ?? null;
  const last = session.lastTurn;
  if (id !== null && last?.id === id) return { session, events: [] };
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
  return {
    session: { ...session, turns: turn, turnOpen: session.exit === null, lastTurn: { ...fresh, id }, stalledAt: null },
    events,
  };
}

const fresh: LastTurn = { id: null, verdict: null, verdictSource: null };

function end(session: Session, told: End, evidence: Evidence): Change {
  const last = session.lastTurn;
  const id = told.id ?? null;
  if (isOfAnEarlierTurn(session, told)) return { session, events: [] };
  if (session.turnOpen) return close(session, session.turns, told, evidence);
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
  // An end whose beginning was missed is still an end: nobody may wait for it in vain.
  const turn = session.exit === null ? session.turns + 1 : Math.max(1, session.turns);
  return close(session, turn, told, evidence);
}

function isToldAgain(last: LastTurn, id: string | null, evidence: Evidence): boolean {
  return id !== null && last.id !== null ? id === last.id : evidence.source !== last.verdictSource;
}

function close(session: Session, turn: number, told: End, evidence: Evidence): Change {
  const lastTurn: LastTurn = {
    id: told.id ?? (session.turnOpen ? (session.lastTurn?.id ?? null) : null),
    verdict: told.phase,
    verdictSource: evidence.source,
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
