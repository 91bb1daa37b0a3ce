/**
 * Begins and ends turns by readings. Several sources report the same turn, in
 * any order. A turn is recognised by the agent's own id if there is one,
 * otherwise by the source that reported it first. If several sources saw its
 * end, the first report counts and a different one is logged. A verdict that
 * was only inferred (from a screen, from history, from the next turn) is
 * corrected by a source that saw the end.
 */
import { amend } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import type { Change } from "./outcome.ts";
import type { Reading, TurnReading } from "./reading.ts";
import type { Evidence, InferredEnd, LastTurn, Session } from "./session.ts";
import { isWitness } from "./witness.ts";

type Start = Extract<TurnReading, { phase: "started" }>;
type End = Exclude<TurnReading, Start>;

export function applyTurn(session: Session, reading: Reading, evidence: Evidence): Change {
  const { turn } = reading;
  if (turn === undefined) return { session, events: [] };
  if (turn.phase === "started")
    return turn.prolongs === true ? prolong(session, turn, evidence) : begin(session, turn, evidence);
  const counted = withStop(session, turn, evidence);
  if (isStopTakenBack(session, turn)) return { session: counted, events: [] };
  return applyEnd(counted, reading, turn, evidence);
}

function applyEnd(session: Session, reading: Reading, turn: End, evidence: Evidence): Change {
  const isHistory = reading.isHistory === true;
  const doubted = isSure(isHistory, evidence) ? inferredEnd(session, turn) : undefined;
  return doubted === undefined ? end(session, turn, isHistory, evidence) : correct(session, doubted, turn, evidence);
}

/**
 * It came late: that turn has begun, or ended, or another is under way, or it
 * was over before there was this session. It says nothing of what the agent
 * does now either.
 */
export function isOldNews(session: Session, told: TurnReading): boolean {
  const { phase, id, at } = told;
  if (at !== undefined && at < session.identity.createdAt) return true;
  if (phase === "started" && told.prolongs === true) return !isReopenedBy(session, told);
  if (isStopTakenBack(session, told)) return true;
  const last = session.conversation.lastTurn;
  if (last === null) return false;
  const isNamed = id !== undefined && id === last.id;
  const isBefore = at !== undefined && last.startedAt !== null && at < last.startedAt;
  if (phase !== "started" && session.conversation.turnOpen && isBefore && !isNamed) return true;
  if (id === undefined) return false;
  if (last.earlier.includes(id)) return true;
  return phase === "started" && isNamed;
}

function begin(session: Session, told: Start, evidence: Evidence): Change {
  const { conversation } = session;
  const id = told.id ?? null;
  const last = conversation.lastTurn;
  if (isOldNews(session, told)) return { session, events: [] };
  if (conversation.turnOpen) {
    if (last !== null && told.continues === true) return goOn(session, last, id);
    if (id === null) return { session, events: [] };
    if (last === null || last.id === null)
      return { session: amend(session, { conversation: { lastTurn: { ...fresh, ...last, id } } }), events: [] };
  }
  const before = overtaken(session, `another turn began: ${evidence.detail}`, evidence);
  const turn = conversation.turns + 1;
  const lastTurn: LastTurn = {
    ...fresh,
    startedAt: told.at ?? evidence.at,
    id,
    earlier: withLast(last),
    inferred: before.session.conversation.lastTurn?.inferred ?? [],
  };
  return {
    session: amend(session, {
      conversation: { turns: turn, turnOpen: session.process.exit === null, lastTurn, stalledAt: null },
    }),
    events: [...before.events, { type: "turn-started", turn, evidence }],
  };
}

/**
 * A Stop hook of the user's own made the agent go on (claude 2.1.325): the end
 * that was told is followed by another turn of the same id. Each time it is
 * told takes back one stop, whichever of the two is read first.
 */
function prolong(session: Session, told: Start, evidence: Evidence): Change {
  const { conversation } = session;
  const last = conversation.lastTurn;
  const isBefore = told.at !== undefined && told.at < session.identity.createdAt;
  if (isBefore || last === null || told.id === undefined || last.id !== told.id) return { session, events: [] };
  const prolonged = last.prolonged + 1;
  if (!isReopenedBy(session, told))
    return { session: amend(session, { conversation: { lastTurn: { ...last, prolonged } } }), events: [] };
  const turn = conversation.turns + 1;
  const { id, earlier, inferred, stops } = last;
  const startedAt = told.at ?? evidence.at;
  const lastTurn: LastTurn = { ...fresh, startedAt, id, earlier, inferred, stops, prolonged };
  return {
    session: amend(session, {
      conversation: { turns: turn, turnOpen: session.process.exit === null, lastTurn, stalledAt: null },
    }),
    events: [{ type: "turn-started", turn, evidence }],
  };
}

/** Its end was told, and no later one. */
function isReopenedBy({ conversation: { turnOpen, lastTurn } }: Session, { id }: Start): boolean {
  if (turnOpen || lastTurn === null || lastTurn.verdict !== "completed") return false;
  return id !== undefined && lastTurn.id === id && lastTurn.stops <= lastTurn.prolonged + 1;
}

/** That it went on was read before the stop after which it did. */
function isStopTakenBack({ conversation: { turnOpen, lastTurn } }: Session, told: TurnReading): boolean {
  const isOfLast = told.phase === "completed" && told.id !== undefined && told.id === lastTurn?.id;
  return isOfLast && turnOpen && lastTurn.stops < lastTurn.prolonged;
}

/** Told by the hook of a stop: other sources tell of the same one. */
function isStop({ phase }: End, { source }: Evidence): boolean {
  return phase === "completed" && source === "hook";
}

function withStop(session: Session, told: End, evidence: Evidence): Session {
  const last = session.conversation.lastTurn;
  if (last === null || !isStop(told, evidence) || told.id === undefined || told.id !== last.id) return session;
  return amend(session, { conversation: { lastTurn: { ...last, stops: last.stops + 1 } } });
}

/** The same turn, under another name: the agent goes on with what it had left working. */
function goOn(session: Session, last: LastTurn, id: string | null): Change {
  const lastTurn: LastTurn = { ...last, id: id ?? last.id, isEnding: false, earlier: withLast(last) };
  return { session: amend(session, { conversation: { lastTurn, stalledAt: null } }), events: [] };
}

/** The turn under way has ended: another one did something, and there is one at a time. */
function overtaken(session: Session, detail: string, evidence: Evidence): Change {
  const { conversation } = session;
  if (!conversation.turnOpen) return { session, events: [] };
  const how: End = { phase: conversation.lastTurn?.isEnding === true ? "completed" : "interrupted" };
  return close(session, conversation.turns, how, false, { ...evidence, detail });
}

const fresh: LastTurn = {
  startedAt: null,
  id: null,
  verdict: null,
  error: null,
  failure: null,
  verdictSource: null,
  isEnding: false,
  stops: 0,
  prolonged: 0,
  earlier: [],
  inferred: [],
};

/** More than any source is behind: a transcript that is read after Reeve was away for a while. */
const REMEMBERED_TURNS = 64;

function withLast(last: LastTurn | null): readonly string[] {
  if (last === null || last.id === null) return last?.earlier ?? [];
  return [...last.earlier, last.id].slice(-REMEMBERED_TURNS);
}

function isSure(isHistory: boolean, { source }: Evidence): boolean {
  return isWitness(source) && !isHistory;
}

/** The end that was inferred and is told now by somebody who saw it. */
function inferredEnd(session: Session, { id, at }: End): InferredEnd | undefined {
  const { lastTurn, turns, turnOpen } = session.conversation;
  if (lastTurn === null) return undefined;
  const named = id === undefined ? undefined : lastTurn.inferred.find((end) => end.id === id);
  if (named !== undefined || turnOpen) return named;
  if (at !== undefined && lastTurn.startedAt !== null && at < lastTurn.startedAt) return undefined;
  // Only one of the two has a name for it: the newest turn is the one that is meant.
  return lastTurn.inferred.find((end) => end.turn === turns && (end.id === null || id === undefined));
}

function correct(session: Session, doubted: InferredEnd, told: End, evidence: Evidence): Change {
  const last = session.conversation.lastTurn ?? fresh;
  const inferred = last.inferred.filter((end) => end !== doubted);
  const isLast = doubted.turn === session.conversation.turns;
  const error = told.phase === "failed" ? told.error : null;
  const failure = told.phase === "failed" ? (told.failure ?? "unknown") : null;
  const verdict = { verdict: told.phase, error, failure, verdictSource: evidence.source, id: told.id ?? last.id };
  const lastTurn: LastTurn = { ...last, ...(isLast ? verdict : {}), inferred };
  if (told.phase === doubted.verdict) return { session: amend(session, { conversation: { lastTurn } }), events: [] };
  const corrected: SessionEvent = {
    type: "turn-corrected",
    turn: doubted.turn,
    verdict: told.phase,
    error,
    ...(failure === null ? {} : { failure }),
    was: doubted.verdict,
    wasSource: doubted.source,
    evidence,
  };
  return { session: amend(session, { conversation: { lastTurn } }), events: [corrected] };
}

function end(session: Session, told: End, isHistory: boolean, evidence: Evidence): Change {
  const { conversation } = session;
  const last = conversation.lastTurn;
  const id = told.id ?? null;
  const isKnown = id !== null && id === last?.id;
  if (isOldNews(session, told)) return { session, events: [] };
  if (conversation.turnOpen) {
    if (id === null || last === null || last.id === null || isKnown)
      return close(session, conversation.turns, told, isSure(isHistory, evidence), evidence);
    // Told before its own beginning, and before the end of the one before it (claude 2.1.325: Esc with a queued prompt).
    const before = overtaken(session, `another turn ended: ${evidence.detail}`, evidence);
    const closed = close(before.session, conversation.turns + 1, told, isSure(isHistory, evidence), evidence);
    return { session: closed.session, events: [...before.events, ...closed.events] };
  }
  // What is long over: whoever saw it has told, or it ended with the process.
  if (isHistory && (isKnown || id === null)) return { session, events: [] };
  if (last !== null && last.verdict !== null && isToldAgain(last, id, evidence)) {
    if (last.verdict === told.phase || last.verdictSource === null) return { session, events: [] };
    const disputed: SessionEvent = {
      type: "turn-disputed",
      turn: conversation.turns,
      counted: last.verdict,
      countedSource: last.verdictSource,
      other: told.phase,
      evidence,
    };
    return { session, events: [disputed] };
  }
  // A screen shows the last end for as long as nothing happens.
  if (!isWitness(evidence.source)) return { session, events: [] };
  // The process died in a turn, and what it still wrote tells how that ended.
  const isCutShort =
    conversation.turns > 0 && (last === null || last.verdict === null) && (session.process.exit !== null || isKnown);
  // An end whose beginning was missed is still an end: nobody may wait for it in vain.
  return close(
    session,
    isCutShort ? conversation.turns : conversation.turns + 1,
    told,
    isSure(isHistory, evidence),
    evidence,
  );
}

function isToldAgain(last: LastTurn, id: string | null, evidence: Evidence): boolean {
  return id !== null && last.id !== null ? id === last.id : evidence.source !== last.verdictSource;
}

/** More turns than one that nobody has told the end of are rare. */
const REMEMBERED_INFERRED = 8;

function close(session: Session, turn: number, told: End, isCertain: boolean, evidence: Evidence): Change {
  const last = session.conversation.lastTurn;
  const isLast = turn === session.conversation.turns;
  const id = told.id ?? (isLast ? (last?.id ?? null) : null);
  const doubt: InferredEnd = { turn, id, verdict: told.phase, source: evidence.source };
  const lastTurn: LastTurn = {
    ...fresh,
    startedAt: isLast ? (last?.startedAt ?? null) : null,
    id,
    verdict: told.phase,
    error: told.phase === "failed" ? told.error : null,
    failure: told.phase === "failed" ? (told.failure ?? "unknown") : null,
    verdictSource: evidence.source,
    ...(id !== null && id === last?.id
      ? { stops: last.stops, prolonged: last.prolonged }
      : { stops: isStop(told, evidence) ? 1 : 0 }),
    earlier: isLast ? (last?.earlier ?? []) : withLast(last),
    inferred: [...(last?.inferred ?? []), ...(isCertain ? [] : [doubt])].slice(-REMEMBERED_INFERRED),
  };
  const closed: Session = amend(session, { conversation: { turns: turn, turnOpen: false, lastTurn, stalledAt: null } });
  return { session: closed, events: [eventOf(told, turn, evidence)] };
}

/** It says that it is done, and something may still make it go on: the end itself follows. */
export function applyEnding(session: Session, { ending }: Reading): Change {
  const last = session.conversation.lastTurn;
  if (ending === undefined || last === null || !isUnderWay(session, ending.id)) return { session, events: [] };
  return { session: amend(session, { conversation: { lastTurn: { ...last, isEnding: true } } }), events: [] };
}

export function isUnderWay({ conversation: { turnOpen, lastTurn } }: Session, id: string | undefined): boolean {
  return turnOpen && (id === undefined || lastTurn === null || lastTurn.id === null || lastTurn.id === id);
}

function eventOf(told: End, turn: number, evidence: Evidence): SessionEvent {
  switch (told.phase) {
    case "completed":
      return { type: "turn-completed", turn, evidence };
    case "interrupted":
      return { type: "turn-interrupted", turn, evidence };
    case "failed":
      return { type: "turn-failed", turn, error: told.error, failure: told.failure ?? "unknown", evidence };
  }
}
