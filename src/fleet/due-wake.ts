/**
 * Decides whether a session is woken now, and for what, from its record, the
 * log and its messages. It keeps no state, so the next daemon decides the same.
 * `supervisor/fleet/waker.ts` does it.
 */
import type { Moment } from "../platform/clock.ts";
import { isBackgroundOnly } from "../session/background.ts";
import { callerName } from "../session/caller.ts";
import { type CutShort, unresumedTurn } from "../session/cut-short.ts";
import type { EventBody, LoggedEvent } from "../session/event.ts";
import type { Message } from "../session/message.ts";
import { takesMessages } from "../session/pending-effect.ts";
import { isPromptAhead } from "../session/prompt-ahead.ts";
import type { Session } from "../session/session.ts";
import { SESSION_ID_PATTERN } from "../session/session-id.ts";
import type { TimeOutName } from "../session/time-out.ts";
import { type WakeReason, wakeReasonOf } from "../session/wake.ts";
import { isTold } from "../session/wake-record.ts";
import type { UnreadMail } from "./unread-mail.ts";

/** Something that happened to a session, for which the one that started it is to be woken. */
export interface DueEvent {
  readonly seq: number;
  readonly sessionId: string;
  readonly name: string;
  readonly reason: WakeReason;
  /** When it was logged. */
  readonly at: number;
  /** The time-out that did it; missing where none did. */
  readonly timedOut?: TimeOutName;
}

/** Of `child`, for whoever started it; null where that session asked not to be told, or did it itself. */
export function dueFor(child: Session, event: LoggedEvent): DueEvent | null {
  const { parentId, notify, name } = child.identity;
  const reason = wakeReasonOf(event);
  if (parentId === null || reason === null || !notify.includes(reason)) return null;
  if (askedBy(event.body) === callerName({ kind: "session", id: parentId })) return null;
  const timedOut = "timedOut" in event.body ? { timedOut: event.body.timedOut } : {};
  return { seq: event.seq, sessionId: child.id, name: safeName(child, name), reason, at: event.at, ...timedOut };
}

/** A name is checked when it is given; one from a state.json that somebody else wrote is not. */
function safeName({ id }: Session, name: string): string {
  return SESSION_ID_PATTERN.test(name) ? name : id;
}

function askedBy(body: EventBody): string | null {
  return "askedBy" in body ? (body.askedBy ?? null) : null;
}

export function stillDue({ wakes }: Session, due: readonly DueEvent[]): readonly DueEvent[] {
  return due.filter(({ sessionId, seq }) => !isTold(wakes, sessionId, seq));
}

/**
 * Mail that no wake has told of. Of a hand-off a session is told once more
 * after it was restarted: the process that heard of it is gone. Notes from
 * before a restart are not worth that.
 */
export function dueMail({ id, wakes, process }: Session, unread: readonly UnreadMail[]): readonly UnreadMail[] {
  const isAnother = process.incarnation > wakes.wokenIncarnation;
  return unread.filter(
    ({ seq, kind, from }) =>
      from !== callerName({ kind: "session", id }) && (seq > wakes.mail || (isAnother && kind === "hand-off")),
  );
}

/**
 * What is older begins no turn: longer than any week-end or holiday of a daemon,
 * and whoever was told nothing for so long looks for itself. It is not
 * forgotten: `recover` counts it, and the next wake moves the cursor past it. A
 * hand-off has no such age, because it waits for its recipient.
 */
export const WAKE_HORIZON_MS = 7 * 86_400_000;

/** What a wake is about: of what is due, what is young enough. Its count and its cursor both come from these. */
export function youngEnough(due: readonly DueEvent[], now: number): readonly DueEvent[] {
  return due.filter(({ at }) => now - at <= WAKE_HORIZON_MS);
}

export function youngEnoughMail(due: readonly UnreadMail[], now: number): readonly UnreadMail[] {
  return due.filter(({ kind, sentAt }) => kind === "hand-off" || now - sentAt <= WAKE_HORIZON_MS);
}

/**
 * The turn in whose middle Reeve started it again, if it is to be told so and has not been. Whoever restarts one by hand
 * says to it what they want: a restart on request forgets the automatic ones.
 */
export function dueRecovery(session: Session): CutShort | null {
  const { process, wakes, identity } = session;
  const isByReeve = process.restart.recent.length > 0;
  return identity.hasTurns && isByReeve && wakes.recovered < process.incarnation ? unresumedTurn(session) : null;
}

export interface Readiness {
  readonly isReady: boolean;
  /** Nothing is under way in it, though another message may wait to be typed. */
  readonly isFree: boolean;
  /** Look again after a while, although nothing is told of it until then. */
  readonly again: boolean;
}

/**
 * Whether it can take a wake now: it runs, nothing is to be done with it, no
 * turn is under way, it asks nothing, and nothing else waits to be typed.
 */
export function readinessOf(
  session: Session,
  around: { readonly open: readonly Message[]; readonly now: Moment },
): Readiness {
  const { wish, conversation, identity } = session;
  const isIdle = isBackgroundOnly(session) || (!conversation.turnOpen && conversation.activity.status === "idle");
  const mayTake = identity.hasTurns && takesMessages(session) && wish.held === null && isIdle;
  const again = mayTake && isPromptAhead(session, around.now);
  const isFree = mayTake && !again;
  return { isReady: isFree && around.open.length === 0, isFree, again };
}

/** When events for a session were heard of, on the monotonic clock, since it was last looked at. */
export interface Heard {
  readonly firstAt: number;
  readonly lastAt: number;
}

/** What comes together is told together: so long nothing more must come, */
export const QUIET_MS = 250;
/** but the first of them waits no longer than this: a death is to be told within 2 s. */
export const LONGEST_GATHERING_MS = 1_250;

/** How long to go on gathering; null: not at all, and also for what a daemon before this one heard. */
export function gatheringLeft(heard: Heard | undefined, monotonic: number): number | null {
  if (heard === undefined) return null;
  const left = Math.min(heard.lastAt + QUIET_MS, heard.firstAt + LONGEST_GATHERING_MS) - monotonic;
  return left > 0 ? left : null;
}
