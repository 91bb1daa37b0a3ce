/**
 * Tells the loss of a runtime, with all sessions in it, from the deaths of
 * single sessions. It is one event, however many looks it takes to notice all
 * of them, and whichever daemon does. Their restarts are not held against them.
 */
import type { Moment } from "../platform/clock.ts";
import { elapsedMs } from "./moment.ts";
import type { Session } from "./session.ts";

export interface RuntimeLoss {
  readonly noticed: Moment;
  /** Something was seen to run there since: the next time that all are gone is another loss. */
  readonly isOver: boolean;
}

/** What the records of a runtime's sessions still show of its newest loss: a daemon may have died in the middle of it. */
export function lossIn(sessions: readonly Session[], now: Moment): RuntimeLoss | null {
  const ends = sessions.flatMap(({ process: { exit, restart } }) =>
    exit !== null && restart.cause === "shared" && restart.ended !== null ? [restart.ended] : [],
  );
  const noticed = ends.toSorted((one, other) => elapsedMs(one, now) - elapsedMs(other, now))[0];
  if (noticed === undefined) return null;
  const isOver = sessions.some(({ process: { restart } }) => isAfter(restart.running, noticed, now));
  return { noticed, isOver };
}

/** A look at a runtime: whether it showed none of its sessions, and how many it should have shown. */
export function afterLook(
  loss: RuntimeLoss | null,
  look: { readonly isEmpty: boolean; readonly gone: number },
  now: Moment,
): { readonly loss: RuntimeLoss | null; readonly isNew: boolean } {
  if (!look.isEmpty) return { loss: loss === null ? null : { ...loss, isOver: true }, isNew: false };
  if (look.gone < 2 || loss?.isOver === false) return { loss, isNew: false };
  return { loss: { noticed: now, isOver: false }, isNew: true };
}

/** Whether a session that is gone went with it. */
export function isLostWith(loss: RuntimeLoss | null, { process: { restart } }: Session, now: Moment): boolean {
  if (loss === null) return false;
  return !loss.isOver || !isAfter(restart.running, loss.noticed, now);
}

/** Of an older record nothing is known: it ran before. */
function isAfter(one: Moment | null, other: Moment, now: Moment): boolean {
  return one !== null && elapsedMs(one, now) < elapsedMs(other, now);
}
