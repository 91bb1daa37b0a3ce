/**
 * Who needs a person now? One answer for every surface: the list, the board,
 * the page and programs all show and order sessions by it.
 */
import { FAILURES } from "./failure.ts";
import { isHung } from "./health.ts";
import { isMismatched, isMismatchUnseen, mismatchSentence } from "./checkout.ts";
import { isEndUnseen } from "./notice.ts";
import type { Need } from "./need-order.ts";
import { GIVEN_UP_CODE } from "./restart-policy.ts";
import type { Session } from "./session.ts";
import { isEnded } from "./session.ts";

/** `isParked`: something of it waits for a usage limit to reset. */
export function needOf(session: Session, isParked = false): Need {
  if (isEnded(session)) return "stopped";
  // Reeve starts it again by itself.
  if (session.process.restart.dueAt !== null) return "working";
  if (isParked && isWaitingForLimit(session)) return "parked";
  if (session.state === "error") return "failed";
  if (session.process.exit !== null) return session.state === "stopped" ? restOf(session) : "working";
  if (session.process.liveness.status === "unreachable") return "unreachable";
  if (isStoppedByBranch(session)) return "blocked";
  if (isAsking(session) || isHung(session) || session.conversation.stalledAt !== null) return "blocked";
  if (isMismatchUnseen(session)) return "failed";
  if (session.state === "paused") return "paused";
  if (session.conversation.activity.status === "idle" && !session.conversation.turnOpen) return restOf(session);
  return "working";
}

/** Nothing else stands in its way, and no turn is under way. */
function isWaitingForLimit(session: Session): boolean {
  if (session.state === "starting") return session.wish.desired === "running";
  const isAlive = session.state === "running" && session.process.liveness.status === "running";
  const isHindered = isAsking(session) || isHung(session) || isStoppedByBranch(session);
  return isAlive && session.wish.stop === null && !session.conversation.turnOpen && !isHindered;
}

function restOf(session: Session): Need {
  const isAlive = session.process.exit === null;
  if (!isEndUnseen(session)) return isAlive ? "idle" : "stopped";
  const isFailed = session.conversation.lastTurn?.verdict === "failed" || isCutOff(session);
  return isAlive && isFailed ? "failed" : "finished";
}

/** Its process ended in a turn and was started again: nobody goes on with what it was asked, unless somebody says so. */
export function isCutOff({ process, conversation: { lastTurn, turnOpen, activity } }: Session): boolean {
  return process.exit === null && activity.status === "idle" && !turnOpen && lastTurn?.verdict === null;
}

/** Since when it is so. */
export function needSince(session: Session): number {
  if (session.process.exit !== null) return session.process.exit.at;
  if (session.process.liveness.status === "unreachable") return session.process.liveness.evidence.at;
  if (isStoppedByBranch(session)) return session.checkout.mismatchAt ?? session.reason.evidence.at;
  if (isAsking(session)) return session.conversation.activity.evidence.at;
  if (isHung(session)) return session.process.pulse?.evidence.at ?? 0;
  if (session.conversation.stalledAt !== null) return session.conversation.stalledAt;
  if (isMismatchUnseen(session)) return session.checkout.mismatchAt ?? session.reason.evidence.at;
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
  const mismatch = mismatchSentence(session);
  if (mismatch !== null && isStoppedByBranch(session)) return mismatch;
  if (isAsking(session)) return activity.asks ?? "It asks for something; its screen shows what.";
  if (session.process.liveness.status === "unreachable")
    return `Cannot be reached: ${session.process.liveness.evidence.detail}`;
  if (session.wish.desired === "stopped")
    return session.wish.stop?.afterTurn === true ? "Ends after this turn." : "Being ended.";
  if (isHung(session)) return hangSentence(session);
  if (session.conversation.stalledAt !== null)
    return "Nothing was heard from its turn for a while; look at its screen.";
  if (mismatch !== null && isMismatchUnseen(session)) return mismatch;
  if (session.state !== "running") return reason.text;
  if (session.wish.held !== null) return `Not restarted by itself: ${session.wish.held.reason}`;
  if (session.conversation.turnOpen) return notice.said ?? "";
  if (session.conversation.lastTurn?.verdict === "failed")
    return `Its turn failed: ${session.conversation.lastTurn.error ?? "no reason given"}`;
  if (session.conversation.lastTurn?.verdict === "interrupted") return notice.said ?? "Its turn was interrupted.";
  if (isCutOff(session)) return "Its last turn was cut off when its process ended; tell it to go on.";
  return notice.said ?? "";
}

function hangSentence({ process: { pulse } }: Session): string {
  return FAILURES.hung.text.replace(/\.$/, `: ${pulse?.evidence.detail ?? "it is stopped"}.`);
}

/** What it printed last, if it ended by itself; what is left on the screen of one that was killed says nothing. */
function deathOf({ notice, reason, process, identity, wish }: Session): string {
  const { code, signal } = process.exit ?? { code: null, signal: null };
  // What Reeve does about it comes first, or that it has given up.
  if (process.restart.dueAt !== null || reason.code === GIVEN_UP_CODE) return reason.text;
  // A shell around it makes a code of the signal, so that there are both.
  if (wish.desired === "stopped" || code === null || signal !== null) return reason.text;
  if (code === 0) return (identity.hasTurns ? notice.said : notice.lastLine) ?? reason.text;
  return notice.lastLine === null ? reason.text : `${notice.lastLine} (exit status ${code})`;
}

/** It does not go on before its branch is checked out again: what it asks cannot be answered either. */
function isStoppedByBranch(session: Session): boolean {
  return isMismatched(session) && session.checkout.policy !== "warn";
}

function isAsking({ conversation: { activity } }: Session): boolean {
  return activity.status === "awaiting-approval" || activity.status === "awaiting-input";
}
