/**
 * How a session fares, in one word: a function of its record and of what
 * concerns it from outside. Nothing is stored twice: a crash, a silence or an
 * unreachable runtime is in the record already, and only what looks at its
 * processes show (`process.pulse`) is there for this alone.
 */
import { crashLoopOf } from "./restart-policy.ts";
import type { Evidence, Session } from "./session.ts";

/** What looks at the processes of a session that should work show. */
export type Pulse = NonNullable<Session["process"]["pulse"]>;

/** From well to bad. */
export const HEALTH_VERDICTS = [
  "healthy",
  "slow",
  "parked",
  "stalled",
  "hung",
  "unreachable",
  "crashed",
  "crash-looping",
] as const;
export type HealthVerdict = (typeof HEALTH_VERDICTS)[number];

export interface Health {
  readonly verdict: HealthVerdict;
  readonly sinceAt: number;
  readonly evidence: Evidence;
}

/** What is not in its record. */
export interface Circumstances {
  /** It waits until a quota of its vendor resets; null: it does not. */
  readonly parked: Evidence | null;
}

export function healthOf(session: Session, { parked }: Circumstances = { parked: null }): Health {
  const { process, conversation } = session;
  const { pulse } = process;
  const as = (verdict: HealthVerdict, evidence: Evidence, sinceAt = evidence.at): Health => ({
    verdict,
    sinceAt,
    evidence,
  });
  const loop = crashLoopOf(session);
  if (loop !== null) return as("crash-looping", session.reason.evidence, loop.sinceAt);
  if (session.state === "error") return as("crashed", session.reason.evidence, process.exit?.at);
  if (process.exit === null && process.liveness.status === "unreachable")
    return as("unreachable", process.liveness.evidence);
  if (isHung(session) && pulse !== null) return as("hung", pulse.evidence);
  if (parked !== null) return as("parked", parked);
  if (conversation.stalledAt !== null) return as("stalled", silence(conversation.stalledAt), conversation.stalledAt);
  if (pulse?.verdict === "slow" && shouldRun(session)) return as("slow", pulse.evidence);
  const seen = pulse?.verdict === "healthy" ? pulse.evidence.at : 0;
  return as("healthy", conversation.activity.evidence, Math.max(seen, conversation.activity.evidence.at));
}

/** Its process does not run although it should. */
export function isHung(session: Session): boolean {
  return session.process.pulse?.verdict === "hung" && shouldRun(session);
}

/** A turn is under way, or it is being started: its process has something to do, and nobody has stopped it. */
export function shouldRun({ state, wish, process, conversation, identity }: Session): boolean {
  const isLive = process.exit === null && process.place !== null && process.liveness.status === "running";
  const isWanted = wish.desired !== "paused" && (wish.stop === null || wish.stop.afterTurn);
  const isBusy = conversation.turnOpen || conversation.activity.status === "starting";
  return isLive && isWanted && !process.suspended && state === "running" && identity.hasTurns && isBusy;
}

function silence(at: number): Evidence {
  return { source: "supervisor", detail: "nothing was heard from the turn under way for a while", at };
}
