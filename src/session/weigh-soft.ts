/**
 * Decides how much a soft reading counts. It comes from the screen or a status
 * file, which shows a state but not when it began, and may be earlier or later
 * than what the agent itself reports.
 *
 * "now": no better source has reported anything. "if it stays": it contradicts
 * the record, and counts once it has been seen unchanged for a while. "no": a
 * better source has reported this, or it says nothing new.
 */
import { isDialog, seenApprovalId } from "./approval.ts";
import { backgroundAfter } from "./background.ts";
import type { Reading } from "./reading.ts";
import type { Activity, ActivityStatus, Session } from "./session.ts";
import { outranks } from "./witness.ts";

export type Weight = "now" | "if it stays" | "no";

export function weighSoft(session: Session, reading: Reading): Weight {
  const { conversation } = session;
  const { turn } = reading;
  const current = conversation.activity.status;
  // A free composer, while something in the background works on.
  const isWorking = reading.activity === "idle" && backgroundAfter(session, reading).some(({ holds }) => holds);
  const activity = isWorking ? "working" : reading.activity;
  if (session.process.exit !== null || activity === undefined) return "no";
  if (reading.nativeId !== undefined && reading.nativeId !== conversation.nativeId) return "now";
  const told = conversation.approvals.filter((open) => !isDialog(open));
  const shown = dialogIn(reading);
  if (shown !== null && conversation.approvals.some(({ id }) => id === shown)) return "no";
  if (activity === "awaiting-approval" && told.length === 0 && shown === null) return "if it stays";
  if (activity === current && turn === undefined && shown === null)
    return (reading.asks ?? null) === conversation.activity.asks ? "no" : asksAnew(conversation.activity, reading);
  // A composer is drawn before it is listened to: what was typed into gemini 0.61.0 that early was lost.
  if (current === "starting" && activity === "idle") return "if it stays";
  if (current === "starting" && activity === "unknown") return "no";
  if (current === "starting" || current === "unknown") return "now";
  const isAsking = activity === "awaiting-input" || activity === "awaiting-approval";
  if (isAsking && current === "awaiting-approval" && told.length > 0) return "no";
  // Between turns an agent asks nothing by itself: a dialog that somebody opened stays, half a redrawn screen does not.
  if (isAsking) return conversation.turnOpen || current !== "idle" ? "now" : "if it stays";
  // What is not recognised says only that it is not idle.
  if (activity === "unknown") return conversation.turnOpen || current !== "idle" ? "no" : "if it stays";
  if (conversation.turnOpen) return activity === "idle" || isEnd(turn) ? "if it stays" : asking(current);
  if (turn?.phase === "started") return "now";
  if (current === "awaiting-input" || current === "awaiting-approval") return "if it stays";
  if (current === "working" && activity === "idle") return "if it stays";
  // Idle by the word of a better source stays idle: a spinner of something in the background is no turn.
  const { source } = conversation.activity.evidence;
  if (outranks(source, reading.source)) return "no";
  return outranks(reading.source, source) ? "now" : "if it stays";
}

/** The dialog that a reading tells of, where its rule says how to answer it. */
function dialogIn({ approval }: Reading): string | null {
  return approval !== undefined && "requested" in approval && approval.choices !== undefined
    ? approval.requested.id
    : null;
}

/** What a better source asked is not asked again because a screen has other words for it. */
function asksAnew({ status, evidence }: Activity, reading: Reading): Weight {
  if (status !== "awaiting-input" || reading.asks === undefined) return "no";
  return outranks(evidence.source, reading.source) ? "no" : "now";
}

/** In a turn: working on again after a question was answered in the pane. */
function asking(current: ActivityStatus): Weight {
  return current === "awaiting-approval" || current === "awaiting-input" ? "if it stays" : "no";
}

function isEnd(turn: Reading["turn"]): boolean {
  return turn !== undefined && turn.phase !== "started";
}

/** What a soft reading that stayed amounts to: an end that nobody told, a question that no hook brought. */
export function settleSoft(session: Session, reading: Reading): Reading {
  const { conversation } = session;
  if (conversation.turnOpen && reading.activity === "idle" && reading.turn === undefined) {
    const isEnding = conversation.lastTurn?.isEnding === true;
    const why = isEnding ? "it had said that it was done" : "no source reported an end";
    return {
      ...reading,
      detail: `${reading.detail}; idle again, and ${why}`,
      turn: { phase: isEnding ? "completed" : "interrupted" },
    };
  }
  if (
    reading.activity === "awaiting-approval" &&
    conversation.approvals.every(isDialog) &&
    reading.approval === undefined
  ) {
    const title = reading.asks ?? "It asks for approval; look at its screen.";
    const id = seenApprovalId(`${conversation.turns}-${session.process.incarnation}-${session.revision}`);
    return {
      ...reading,
      approval: { requested: { id, kind: "other", title, subject: null, cwd: null, reason: null } },
    };
  }
  return reading;
}
