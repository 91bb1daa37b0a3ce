/** How a reading of the agent changes what is known of its turns, activity and transcript. */
import type { Context } from "./input.ts";
import type { Change } from "./outcome.ts";
import type { Reading } from "./reading.ts";
import type { Activity, ActivityStatus, Evidence, Observability, Session } from "./session.ts";

export function applyReading(session: Session, reading: Reading, context: Context): Change {
  const evidence: Evidence = { source: reading.source, detail: reading.detail, at: context.now };
  const turned = applyTurn(session, reading, evidence);
  const active = applyActivity(turned.session, reading, evidence);
  const seen = applyTranscript(active.session, reading);
  const events = [...turned.events, ...active.events, ...seen.events];
  const nativeId = reading.nativeId ?? seen.session.nativeId;
  if (events.length === 0 && nativeId === session.nativeId) return { session, events };
  return { session: { ...seen.session, nativeId, lastActivityAt: context.now }, events };
}

function applyTurn(session: Session, reading: Reading, evidence: Evidence): Change {
  if (reading.turn === undefined) return { session, events: [] };
  if (reading.turn === "started") {
    if (session.turnOpen) return { session, events: [] };
    const turn = session.turns + 1;
    return {
      session: { ...session, turns: turn, turnOpen: session.exit === null },
      events: [{ type: "turn-started", turn, evidence }],
    };
  }
  // An end whose beginning was missed is still an end: nobody may wait for it in vain.
  const turn = session.turnOpen || session.exit !== null ? session.turns : session.turns + 1;
  const closed: Session = { ...session, turns: turn, turnOpen: false };
  if (reading.turn === "completed") return { session: closed, events: [{ type: "turn-completed", turn, evidence }] };
  if (reading.turn === "interrupted")
    return { session: closed, events: [{ type: "turn-interrupted", turn, evidence }] };
  return { session: closed, events: [{ type: "turn-failed", turn, error: reading.turn.failed, evidence }] };
}

function applyActivity(session: Session, reading: Reading, evidence: Evidence): Change {
  const status = reading.activity ?? impliedActivity(reading);
  // The dead do nothing, whatever was still in the spool.
  if (status === undefined || session.exit !== null) return { session, events: [] };
  const asks = reading.asks ?? null;
  if (session.activity.status === status && session.activity.asks === asks) return { session, events: [] };
  const activity: Activity = { status, asks, evidence };
  return {
    session: { ...session, activity },
    events: [{ type: "activity-changed", from: session.activity.status, activity }],
  };
}

function impliedActivity(reading: Reading): ActivityStatus | undefined {
  if (reading.turn === undefined) return undefined;
  return reading.turn === "started" ? "working" : "idle";
}

function applyTranscript(session: Session, reading: Reading): Change {
  if (reading.transcript === undefined || session.observability.status === reading.transcript)
    return { session, events: [] };
  const observability: Observability = {
    ...session.observability,
    status: reading.transcript,
    expected: reading.transcript === "observable",
    reason: reading.detail,
  };
  return {
    session: { ...session, observability },
    events: [{ type: "observability-changed", from: session.observability.status, observability }],
  };
}
