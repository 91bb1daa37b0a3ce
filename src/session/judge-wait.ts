/**
 * Decides the answer to a wait, from the record of the session and the events after the cursor of the wait. Pure, so
 * the answer is the same after a restart of Reeve. See docs/decisions/0022-waiting-and-exit-codes.md.
 */
import type { Moment } from "../platform/clock.ts";
import type { Ask } from "./ask.ts";
import type { Course, Wake } from "./course.ts";
import { isHung } from "./health.ts";
import type { Message } from "./message.ts";
import { elapsedMs } from "./moment.ts";
import { isSuspended, pausedSentence } from "./pause-sentence.ts";
import { isPromptAhead } from "./prompt-ahead.ts";
import type { Session } from "./session.ts";
import type { WakeReason } from "./wake.ts";
import { isUnanswered, nothingSentence } from "./nothing-sentence.ts";

/** The newest ask and whatever turn came after it; one ask and the turn that took it; everything after a cursor. */
export type Subject =
  | { readonly kind: "newest"; readonly ask: Ask | null }
  | { readonly kind: "ask"; readonly ask: Ask }
  | { readonly kind: "cursor" };

export interface Waiting {
  readonly session: Session;
  readonly subject: Subject;
  readonly course: Course;
  /** Empty: whatever ends a wait. */
  readonly wanted: ReadonlySet<WakeReason>;
  /** Messages that are not settled yet. */
  readonly open: readonly Message[];
  readonly message: (id: string) => Message | undefined;
  readonly now: Moment;
}

export type Judgement =
  /** It happened; `ok` says whether that is what a script would call success. */
  | { readonly is: "happened"; readonly wake: Wake; readonly ok: boolean }
  /** Something else happened, and what is waited for cannot follow unless somebody does something. */
  | { readonly is: "barred"; readonly wake: Wake }
  /** `isUnanswered`: something was asked, and what it should have brought does not come. */
  | { readonly is: "nothing"; readonly why: string; readonly isUnanswered: boolean }
  /** `again`: look again after a while although the log says nothing. */
  | { readonly is: "pending"; readonly again: boolean };

/** An agent that was given something begins a turn, or closes its question, within a second; a busy machine may need more. */
const TAKEN_WITHIN_MS = 15_000;

export function judge(waiting: Waiting): Judgement {
  const { session, wanted } = waiting;
  if (!session.identity.hasTurns && wanted.size > 0 && !wanted.has("exited"))
    return {
      is: "nothing",
      why: "It has no turns and asks nothing; wait for its end (--for exited).",
      isUnanswered: false,
    };
  const isCursor = waiting.subject.kind === "cursor";
  const standing = isCursor ? standingSinceCursor(waiting) : standingSinceAsk(waiting);
  const isWanted = ({ reason }: Wake): boolean => wanted.size === 0 || wanted.has(reason);
  const happened = (isCursor ? waiting.course.wakes.find(isWanted) : undefined) ?? standing.find(isWanted);
  if (happened !== undefined)
    return { is: "happened", wake: happened, ok: wanted.size > 0 || isSuccess(session, happened) };
  // Whatever else happens, a process may exit at any time.
  if (wanted.size > 0 && [...wanted].every((reason) => reason === "exited")) return { is: "pending", again: false };
  // A turn that has stalled may go on.
  const bar = standing.find(({ reason }) => reason !== "stalled");
  if (bar !== undefined) return { is: "barred", wake: bar };
  const ask = askOf(waiting);
  const isAboutAsk = !isCursor || ask !== null;
  const message = messageOf(waiting, ask);
  const paused = pausedSentence(session);
  if (paused !== null && !mayGoOn(waiting) && (isAboutAsk || waiting.open.length > 0 || isSuspended(session))) {
    const isWaiting = waiting.open.length > 0 || session.conversation.turnOpen;
    return { is: "nothing", why: paused, isUnanswered: isWaiting || isUnanswered(session, ask, message) };
  }
  if (isAboutAsk && isAtRest(waiting))
    return {
      is: "nothing",
      why: nothingSentence(session, ask, message),
      isUnanswered: isUnanswered(session, ask, message),
    };
  return { is: "pending", again: isSettling(waiting) || isPromptAhead(session, waiting.now) };
}

export function isSuccess(session: Session, { reason }: Pick<Wake, "reason">): boolean {
  if (reason === "exited") return !session.identity.hasTurns && session.process.exit?.code === 0;
  return reason === "turn-completed";
}

/** What is so now. Of its holder's cursor everything before is known: only a death is told again. */
function standingSinceCursor(waiting: Waiting): readonly Wake[] {
  const { course } = waiting;
  const question = questionOf(waiting);
  const isNew = question !== null && course.wakes.some(({ reason }) => reason === question.reason);
  const lastEnd = isAtRest(waiting) ? course.turnEnds.at(-1) : undefined;
  return present([deathOf(waiting), isNew ? question : null, lastEnd]);
}

function standingSinceAsk(waiting: Waiting): readonly Wake[] {
  const { course, subject } = waiting;
  const turn = awaitedTurn(waiting);
  const end = turn === null ? undefined : course.turnEnds.find((ended) => ended.turn >= turn);
  const now = [deathOf(waiting), questionOf(waiting), stallOf(waiting)];
  // The turn may be over while another one is under way: for one ask its own turn counts, for the newest what is so now.
  return present([...(subject.kind === "ask" ? [end, ...now] : [...now, end]), lostIn(waiting)]);
}

/** The turn that took what was asked; null while that is not known. */
function awaitedTurn(waiting: Waiting): number | null {
  const { session, subject, course } = waiting;
  const ask = askOf(waiting);
  const asked = ask === null ? 0 : turnOfAsk(waiting, ask);
  if (asked === null || subject.kind === "ask") return asked;
  // A later one was begun in its pane: as good as asked for.
  return Math.max(
    asked,
    course.turnStarts.at(-1)?.turn ?? 0,
    session.conversation.turnOpen ? session.conversation.turns : 0,
  );
}

function turnOfAsk(waiting: Waiting, { body }: Ask): number | null {
  const { course } = waiting;
  switch (body.type) {
    case "session-starting":
      return 0;
    case "approval-answer-requested":
      return body.turn ?? 0;
    case "message-admitted": {
      const known = course.turnOf.get(body.messageId);
      if (known !== undefined) return known;
      const state = waiting.message(body.messageId)?.state;
      // Whether it arrived is not known for certain; a turn that began since says that it did.
      return state === "unknown" || state === "delivered" ? (course.turnStarts[0]?.turn ?? null) : null;
    }
  }
}

function deathOf({ session, course }: Waiting): Wake | null {
  const isOver = session.process.exit !== null || session.state === "stopped";
  const isStartedAgain = session.process.restart.dueAt !== null || session.wish.stop?.next === "restart";
  return isOver && !isStartedAgain ? latest(course, "exited") : null;
}

/** It died before it answered; that it was started again by its policy does not bring the turn back. */
function lostIn(waiting: Waiting): Wake | undefined {
  const { session, course } = waiting;
  const isDown = session.process.exit !== null || session.state === "starting";
  return isDown || isAtRest(waiting) ? course.wakes.findLast(({ reason }) => reason === "exited") : undefined;
}

/** One that hangs is heard of no more than one that is silent. */
function stallOf({ session, course }: Waiting): Wake | null {
  const isStill = session.conversation.stalledAt !== null || isHung(session);
  return isStill && session.process.exit === null ? latest(course, "stalled") : null;
}

/** What it asks now, unless the answer is on its way. */
function questionOf(waiting: Waiting): Wake | null {
  const { session, course } = waiting;
  const { status } = session.conversation.activity;
  if (session.process.exit !== null || (status !== "awaiting-approval" && status !== "awaiting-input")) return null;
  if (session.conversation.approvals.some(({ answer }) => answer !== null)) return null;
  const question = latest(course, status);
  const ask = askOf(waiting);
  const isAskedSince = course.wakes.some(({ reason, seq }) => reason === status && seq > (ask?.seq ?? 0));
  return !isAskedSince && isGiving(waiting) ? null : question;
}

/** Nothing is under way: without something new nothing more will happen. */
function isAtRest(waiting: Waiting): boolean {
  const { session, open, now } = waiting;
  const { status } = session.conversation.activity;
  return (
    session.identity.hasTurns &&
    session.process.exit === null &&
    session.wish.stop === null &&
    (session.state === "running" || session.state === "paused") &&
    (status === "idle" || status === "unknown") &&
    !session.conversation.turnOpen &&
    open.length === 0 &&
    !isPromptAhead(session, now) &&
    !isSettling(waiting)
  );
}

/** Although it is paused: its process runs on, and so does what it was given before. */
function mayGoOn(waiting: Waiting): boolean {
  const { session, open, now } = waiting;
  const { conversation } = session;
  if (isSuspended(session)) return false;
  if (conversation.approvals.some(({ answer }) => answer !== null)) return false;
  const { status } = conversation.activity;
  if (conversation.turnOpen || status === "working" || status === "starting" || isPromptAhead(session, now))
    return true;
  const message = messageOf(waiting, askOf(waiting));
  return open.some(({ state }) => state === "leased") || (message?.state === "delivered" && isSettling(waiting));
}

/** What was sent has arrived, and its turn has not begun yet. */
function isSettling(waiting: Waiting): boolean {
  const { session } = waiting;
  const ask = askOf(waiting);
  const turn = ask === null ? 0 : turnOfAsk(waiting, ask);
  return isGiving(waiting) && (turn === null || session.conversation.turns < turn);
}

/** A message that waits, is being typed, or was typed a moment ago. */
function isGiving(waiting: Waiting): boolean {
  const message = messageOf(waiting, askOf(waiting));
  if (message === undefined || !message.submit) return false;
  if (message.state === "admitted" || message.state === "leased") return true;
  if (message.state !== "delivered") return false;
  return message.settled !== null && elapsedMs(message.settled, waiting.now) < TAKEN_WITHIN_MS;
}

function askOf({ subject, course }: Waiting): Ask | null {
  return subject.kind === "cursor" ? course.newestAsk : subject.ask;
}

function messageOf({ message }: Waiting, ask: Ask | null): Message | undefined {
  return ask?.body.type === "message-admitted" ? message(ask.body.messageId) : undefined;
}

function latest(course: Course, reason: WakeReason): Wake {
  return course.wakes.findLast((wake) => wake.reason === reason) ?? { reason, seq: course.seq };
}

function present(wakes: readonly (Wake | null | undefined)[]): readonly Wake[] {
  return wakes.filter((wake) => wake !== null && wake !== undefined);
}
