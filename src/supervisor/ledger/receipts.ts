/**
 * Knows which messages are on their way into their agents, and recognises when
 * one was taken: only by a turn that began with its text. The ledger asks with
 * every reading, so that the beginning of the turn and the outcome of the
 * message are one commit. It is in memory only; after a crash the next daemon
 * adds the leased messages again.
 */
import { isOldNews } from "../../session/apply-turn.ts";
import type { Input } from "../../session/input.ts";
import type { Reading } from "../../session/reading.ts";
import type { Evidence, Session } from "../../session/session.ts";

export interface Expected {
  readonly messageId: string;
  readonly incarnation: number;
  /** Of the text as the agent reports it. */
  readonly print: string;
  /** How many turns there had been: a later word about the turn that it began is not old. */
  readonly turnsBefore: number;
  /** It goes into the turn under way. */
  readonly isSteered: boolean;
  /** What was done with it so far, for the outcome. */
  readonly done: string | null;
}

export interface Receipt {
  readonly messageId: string;
  readonly source: Evidence["source"];
  readonly detail: string;
}

export interface Receipts {
  expect(sessionId: string, expected: Expected): void;
  forget(sessionId: string): void;
  /** The message that this input says was taken. */
  takenBy(session: Session, input: Input): Receipt | null;
  /** What was taken since, that was not it. */
  takenInstead(sessionId: string): string | null;
}

export function createReceipts(): Receipts {
  const expected = new Map<string, Expected & { instead: string | null }>();
  return {
    expect: (sessionId, what) => void expected.set(sessionId, { ...what, instead: null }),
    forget: (sessionId) => void expected.delete(sessionId),
    takenBy(session, input) {
      const what = expected.get(session.id);
      if (what === undefined) return null;
      for (const reading of readingsIn(input, what.incarnation)) {
        const { turn } = reading;
        if (turn?.phase !== "started" || turn.print === undefined) continue;
        const isOld =
          isOldNews(session, turn) &&
          !(turn.id === session.conversation.lastTurn?.id && session.conversation.turns > what.turnsBefore);
        if (isOld && !what.isSteered) continue;
        if (turn.print === what.print) {
          const taken = `it was taken (${reading.detail})`;
          const detail = what.done === null ? taken : `${what.done}; ${taken}`;
          return { messageId: what.messageId, source: reading.source, detail };
        }
        what.instead = turn.prompt ?? "(a text that is not known)";
      }
      return null;
    },
    takenInstead: (sessionId) => expected.get(sessionId)?.instead ?? null,
  };
}

function readingsIn(input: Input, incarnation: number): readonly Reading[] {
  if (input.type === "read" && input.incarnation === incarnation) return [input.reading];
  return input.type === "read-transcript" && input.incarnation === incarnation ? input.readings : [];
}
