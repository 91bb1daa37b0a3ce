/**
 * Who needs a person now? One answer for every surface: the list, the board,
 * the page and programs all show and order sessions by it.
 */
import { isUnseen } from "./notice.ts";
import type { Need } from "./need-order.ts";
import type { Session } from "./session.ts";
import { isEnded } from "./session.ts";

export function needOf(session: Session): Need {
  if (isEnded(session)) return "stopped";
  if (session.state === "error") return "failed";
  if (session.process.exit !== null) return session.state === "stopped" ? restOf(session) : "working";
  if (session.process.liveness.status === "unreachable") return "unreachable";
  if (isAsking(session) || session.conversation.stalledAt !== null) return "blocked";
  if (session.state === "paused") return "paused";
  if (session.conversation.activity.status === "idle" && !session.conversation.turnOpen) return restOf(session);
  return "working";
}

function restOf(session: Session): Need {
  const isAlive = session.process.exit === null;
  if (!isUnseen(session)) return isAlive ? "idle" : "stopped";
  return isAlive && session.conversation.lastTurn?.verdict === "failed" ? "failed" : "finished";
}

/** Since when it is so. */
export function needSince(session: Session): number {
  if (session.process.exit !== null) return session.process.exit.at;
  if (session.process.liveness.status === "unreachable") return session.process.liveness.evidence.at;
  if (isAsking(session)) return session.conversation.activity.evidence.at;
  if (session.conversation.stalledAt !== null) return session.conversation.stalledAt;
  if (session.state === "paused") return session.reason.evidence.at;
  return session.conversation.activity.evidence.at;
}

/**
 * The one line that matters: what it asks, what it died of, what stands in
 * the way, or the last sentence it said. Empty where there is nothing to say.
 */
export function headlineOf(session: Session): string {
  const { notice, reason } = session;
  const { activity } = session.conversation;
  if (session.process.exit !== null) return deathOf(session);
  if (isAsking(session)) return activity.asks ?? "It asks for something; its screen shows what.";
  if (session.process.liveness.status === "unreachable")
    return `Cannot be reached: ${session.process.liveness.evidence.detail}`;
  if (session.wish.desired === "stopped")
    return session.wish.stop?.afterTurn === true ? "Ends after this turn." : "Being ended.";
  if (session.conversation.stalledAt !== null)
    return "Nothing was heard from its turn for a while; look at its screen.";
  if (session.state !== "running") return reason.text;
  if (session.wish.held !== null) return `Not restarted by itself: ${session.wish.held.reason}`;
  if (session.conversation.turnOpen) return notice.said ?? "";
  if (session.conversation.lastTurn?.verdict === "failed")
    return `Its turn failed: ${session.conversation.lastTurn.error ?? "no reason given"}`;
  if (session.conversation.lastTurn?.verdict === "interrupted") return notice.said ?? "Its turn was interrupted.";
  return notice.said ?? "";
}

/** What it printed last, if it ended by itself; what is left on the screen of one that was killed says nothing. */
function deathOf({ notice, reason, process, identity, wish }: Session): string {
  const { code, signal } = process.exit ?? { code: null, signal: null };
  // A shell around it makes a code of the signal, so that there are both.
  if (wish.desired === "stopped" || code === null || signal !== null) return reason.text;
  if (code === 0) return (identity.hasTurns ? notice.said : notice.lastLine) ?? reason.text;
  return notice.lastLine === null ? reason.text : `${notice.lastLine} (exit status ${code})`;
}

function isAsking({ conversation: { activity } }: Session): boolean {
  return activity.status === "awaiting-approval" || activity.status === "awaiting-input";
}
