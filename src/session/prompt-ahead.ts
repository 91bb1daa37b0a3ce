/**
 * The prompt of a start that its agent has not taken yet. An agent is idle for a moment before it takes the prompt of its
 * command line; longer, and it will not. How long is counted on moments, so a wall clock that was set changes nothing.
 */
import type { Moment } from "../platform/clock.ts";
import { amend } from "./amend.ts";
import { elapsedMs } from "./moment.ts";
import type { Session } from "./session.ts";

const PROMPT_TAKEN_WITHIN_MS = 15_000;

/** After every change of the record. The same session back where nothing about it changed. */
export function withPromptAhead(session: Session, now: Moment): Session {
  const isIdle = mayTakePrompt(session) && session.conversation.activity.status === "idle";
  if (isIdle === (session.conversation.untakenSince !== null)) return session;
  return amend(session, { conversation: { untakenSince: isIdle ? now : null } });
}

/** The prompt is still on its way into the agent: its turn is about to begin. */
export function isPromptAhead(session: Session, now: Moment): boolean {
  if (!mayTakePrompt(session)) return false;
  const { activity, untakenSince } = session.conversation;
  if (activity.status === "starting" || activity.status === "working") return true;
  // An earlier version did not say since when.
  const ago = untakenSince === null ? now.at - activity.evidence.at : elapsedMs(untakenSince, now);
  return activity.status === "idle" && ago < PROMPT_TAKEN_WITHIN_MS;
}

function mayTakePrompt({ identity, conversation, process, state }: Session): boolean {
  const { prompt } = identity.launch;
  if (!identity.hasTurns || prompt === null || prompt.startsWith("/") || conversation.turns > 0) return false;
  return process.exit === null && state !== "error";
}
