/**
 * A turn that was under way when the process of its session ended. Nobody saw
 * how far it came, so the next process is told to look before it goes on
 * (fleet/due-wake.ts), and `recover` says where it stopped.
 */
import type { Session } from "./session.ts";
import { count, instant, object, type Of } from "./shape.ts";

/** `incarnation`: the one that ended. */
export const cutShort = object({ turn: count, incarnation: count, at: instant });
export interface CutShort extends Of<typeof cutShort> {}

/** A restart was asked for: an agent may still say that its turn was interrupted before its process ends. */
export function cutByRestart(session: Session, at: number): CutShort | null {
  const { conversation, process } = session;
  if (process.exit !== null) return conversation.cutShort;
  return conversation.turnOpen ? cutOf(session, at) : null;
}

/** Its process ended. */
export function cutByDeath(session: Session, at: number): CutShort | null {
  const { cutShort: noted, turns, turnOpen, lastTurn } = session.conversation;
  if (turnOpen) return cutOf(session, at);
  const isSame = noted?.incarnation === session.process.incarnation && noted.turn === turns;
  return isSame && lastTurn?.verdict !== "completed" && lastTurn?.verdict !== "failed" ? noted : null;
}

function cutOf({ conversation: { turns }, process: { incarnation } }: Session, at: number): CutShort {
  return { turn: turns, incarnation, at };
}

/** The turn in whose middle this process was started again, as long as nothing else was begun; null: there is none. */
export function unresumedTurn({ conversation, process }: Session): CutShort | null {
  const { cutShort: cut, turns, lastTurn } = conversation;
  if (cut === null || process.exit !== null || process.incarnation <= cut.incarnation || turns !== cut.turn)
    return null;
  return lastTurn?.verdict === "completed" ? null : cut;
}
