/** What the index takes of an event: something to find, and what `reeve stats` counts. Pure. */
import { stripTerminal } from "../../platform/terminal-text.ts";
import { isTurnEnd, type LoggedEvent } from "../../session/event.ts";
import type { Session, Verdict } from "../../session/session.ts";
import type { Entry, TurnChange } from "../../search/contract.ts";

/** They come with every look at a session, and say nothing that another event does not. */
const UNSEARCHED: ReadonlySet<string> = new Set(["liveness-changed", "activity-changed", "session-seen"]);

export function entryOfEvent({ seq, at, sessionId, body }: LoggedEvent, session: Session | undefined): Entry | null {
  if (UNSEARCHED.has(body.type)) return null;
  const { type, ...data } = body;
  return {
    kind: "event",
    sessionId,
    peer: null,
    agent: session?.identity.agent ?? null,
    role: session?.identity.role ?? null,
    at,
    who: type,
    ref: String(seq),
    text: [...new Set(textsIn(data))].join(" · "),
  };
}

/** All texts in it, without the names of fields; instants and counts say nothing to somebody who looks for words. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return value === "" ? [] : [stripTerminal(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

export function turnChangeOf({ at, sessionId, body }: LoggedEvent): TurnChange | null {
  if (sessionId === null) return null;
  if (body.type === "turn-started") return { sessionId, turn: body.turn, startedAt: at };
  if (isTurnEnd(body)) {
    const failure = body.type === "turn-failed" ? (body.failure ?? null) : null;
    return { sessionId, turn: body.turn, endedAt: at, verdict: VERDICTS[body.type], failure };
  }
  if (body.type === "turn-corrected")
    return { sessionId, turn: body.turn, verdict: body.verdict, failure: body.failure ?? null };
  return null;
}

const VERDICTS = {
  "turn-completed": "completed",
  "turn-failed": "failed",
  "turn-interrupted": "interrupted",
} as const satisfies Record<string, Verdict>;
