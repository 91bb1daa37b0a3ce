import { isBackgroundOnly } from "../session/background.ts";
import { isMismatched } from "../session/checkout.ts";
import { FAILURES } from "../session/failure.ts";
import { isHung } from "../session/health.ts";
import { pausedSentence } from "../session/pause-sentence.ts";
import type { Session } from "../session/session.ts";
import type { SessionView } from "./session-view.ts";

/** What an orchestrator should do next about this session, instead of guessing from a missing file. */
export function guidanceOf(session: Session, need: SessionView["need"]): string {
  const { conversation } = session;
  if (need === "parked")
    return "It waits for a usage limit to reset and goes on by itself: wait for its notification; do not restart it, and do not send the same again.";
  const { status } = conversation.activity;
  if (session.process.restart.dueAt !== null)
    return "Its process has ended, and Reeve will start it again: wait for that, or restart it to do so now.";
  if (session.process.exit !== null) return "Its process has ended; look at its data, or restart it.";
  if (session.process.createFailures !== null)
    return "It could not be started yet, and is tried again; its reason says why. Wait for its exit, or end it.";
  const paused = pausedSentence(session);
  if (paused !== null) return paused;
  if (isMismatched(session) && session.checkout.policy !== "warn")
    return "Another branch is checked out than it declared: check out the declared one, and it goes on.";
  if (status === "awaiting-approval") return "It asks for approval: answer it with approve or deny.";
  if (status === "awaiting-input")
    return "It asks for something: read its screen, and answer it there with attach, or with send.";
  if (!session.identity.hasTurns) return "It has no turns: wait for its exit, and read its screen at any time.";
  if (isHung(session)) return `${FAILURES.hung.text} ${FAILURES.hung.suggestion}`;
  if (conversation.stalledAt !== null)
    return "Nothing was heard from its turn for a while: read its screen, then interrupt it or wait on.";
  if (session.watch.observability.status === "pending" && session.watch.observability.expected)
    return "It is normal that there is no transcript yet: wait for its notification; do not poll, and do not end it because of this.";
  if (isBackgroundOnly(session))
    return "It works in the background: wait for its notification, do not poll; a message would be taken now.";
  if (conversation.turnOpen) return "A turn is under way: wait for its notification, do not poll.";
  return UNDER_NO_TURN[status];
}

const UNDER_NO_TURN = {
  starting: "It is starting: wait for its notification; a message is typed as soon as it can take one.",
  working: "It is at work: wait for its notification, do not poll.",
  idle: "It is idle: send it a message, or end it.",
  unknown: "It is not known what it does: read its screen, then send it a message, or end it.",
} as const;
