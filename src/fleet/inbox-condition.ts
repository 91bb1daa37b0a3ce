/**
 * What of a session needs a person right now: a pure function of its record, so
 * that the next daemon decides the same. Each source looks at one thing; to add
 * one, add it to the list. Words are in inbox-text.ts.
 */
import type { Approval } from "../session/approval.ts";
import { isMismatched } from "../session/checkout.ts";
import { overdueOf } from "../session/countdown.ts";
import { type FailureKind, treatmentOf } from "../session/failure.ts";
import type { InboxAnswer, InboxKind, InboxUrgency } from "../session/inbox-kind.ts";
import { isHung } from "../session/health.ts";
import { isCutOff } from "../session/need.ts";
import { isUnseen } from "../session/notice.ts";
import { isEndWaiting } from "../session/pending-effect.ts";
import { isEnded, type Session } from "../session/session.ts";
import { untilOf, warningMs } from "../session/stay.ts";
import type { WakeReason } from "../session/wake.ts";
import { type Condition, itemIdOf } from "./inbox.ts";
import {
  approvalWords,
  branchWords,
  cutOffWords,
  deathWords,
  exitWords,
  finishedWords,
  holdWords,
  overdueWords,
  questionWords,
  stallWords,
  timeOutWords,
  turnFailureWords,
  unreachableWords,
  type Words,
} from "./inbox-text.ts";

/** A condition, and what time has to do with it. */
export interface Due {
  readonly condition: Condition;
  /** Not before it has lasted so long. */
  readonly afterMs?: number;
  /** It happened once: if its item was closed, it is not opened again. */
  readonly isOnce?: true;
}

export interface Around {
  /** Messages wait to be typed into it: it goes on by itself. */
  readonly hasMessages: boolean;
  /** The session that started it has not been ended, and can be woken. */
  readonly hasParent: boolean;
}

type Source = (session: Session, around: Around) => readonly Due[];

/** A runtime that answers again within this is nobody's business. */
export const UNREACHABLE_AFTER_MS = 60_000;

const SOURCES: readonly Source[] = [
  approvals,
  question,
  stall,
  timeOut,
  endingHold,
  death,
  failedTurn,
  cutOffTurn,
  branch,
  finished,
  unreachable,
];

export function conditionsOf(session: Session, around: Around): readonly Due[] {
  if (isEnded(session) || (session.wish.desired === "stopped" && !isEndWaiting(session))) return [];
  return SOURCES.flatMap((source) => source(session, around));
}

/** What is being answered needs nobody, unless the answer does not arrive. */
function approvals(session: Session): readonly Due[] {
  if (session.process.exit !== null) return [];
  return session.conversation.approvals
    .filter(({ answer }) => answer === null)
    .map((approval) => {
      const overdue = overdueOf(session, approval);
      const condition = about(session, {
        cause: ["approval", `${approval.id} ${approval.requestedAt}`],
        kind: overdue === null ? "approval" : "overdue-approval",
        urgency: "blocked",
        words: overdue === null ? approvalWords(session, approval) : overdueWords(session, approval, overdue.afterMs),
        answers: ["approve", "deny", "end"],
        sinceAt: approval.requestedAt,
        approval,
      });
      return { condition };
    });
}

function question(session: Session): readonly Due[] {
  const { activity, turns } = session.conversation;
  if (activity.status !== "awaiting-input" || session.process.exit !== null) return [];
  const overdue = overdueOf(session, null);
  return [
    {
      condition: about(session, {
        cause: ["question", `${session.process.incarnation} ${turns} ${activity.evidence.at}`],
        kind: overdue === null ? "question" : "overdue-approval",
        urgency: "blocked",
        words: questionWords(session, overdue?.afterMs),
        answers: ["reply", "end"],
        sinceAt: activity.evidence.at,
      }),
    },
  ];
}

/** Nothing is heard from its turn, or its process does not run although it should: of one turn that is one thing. */
function stall(session: Session): readonly Due[] {
  const { stalledAt, turns } = session.conversation;
  const { pulse, exit, incarnation } = session.process;
  const hungAt = isHung(session) && pulse !== null ? pulse.evidence.at : null;
  const sinceAt = hungAt ?? stalledAt;
  if (sinceAt === null || exit !== null) return [];
  return [
    {
      condition: about(session, {
        cause: ["stall", `${incarnation} ${turns}`],
        urgency: "blocked",
        words: stallWords(session, hungAt === null ? "stalled" : "hung"),
        answers: hungAt === null ? ["interrupt", "restart", "end"] : ["restart", "end"],
        sinceAt,
      }),
    },
  ];
}

/** What lasted too long and is still so, where that was only to be reported. A question has an item of its own. */
function timeOut(session: Session): readonly Due[] {
  if (session.process.exit !== null) return [];
  return session.timeouts.countdowns.flatMap((countdown): readonly Due[] => {
    const { which, cause, fired } = countdown;
    if (fired === null || which === "approval" || which === "stop_grace") return [];
    // What is being interrupted or ended needs nobody, unless that fails.
    if (fired.action !== "report" && fired.failed === null) return [];
    if (which === "start" && !UNKNOWN.includes(session.conversation.activity.status)) return [];
    return [
      {
        condition: about(session, {
          cause: ["time-out", `${which} ${cause}`],
          urgency: which === "start" || which === "turn" ? "blocked" : "other",
          words: timeOutWords(session, which, fired),
          answers: which === "turn" ? ["interrupt", "restart", "end"] : ["restart", "end"],
          sinceAt: fired.at,
        }),
      },
    ];
  });
}

/** What an agent does that has not said that it is ready. */
const UNKNOWN: readonly string[] = ["starting", "unknown"];

/** Soon it is not held any more, and is then ended by its idle time or its age. */
function endingHold(session: Session): readonly Due[] {
  const { stay } = session.wish;
  if (stay === null || !stay.isEnding) return [];
  return [
    {
      condition: about(session, {
        cause: ["hold", stay.since.at],
        urgency: "other",
        words: holdWords(session, stay),
        answers: ["end"],
        sinceAt: untilOf(stay) - warningMs(stay),
      }),
    },
  ];
}

/** Its process died or could not be started, and Reeve does not try again: however often it died, that is one thing. */
function death(session: Session): readonly Due[] {
  const { process, wish, state } = session;
  if (state !== "error" || process.restart.dueAt !== null || wish.stop?.next === "restart") return [];
  return [
    {
      condition: about(session, {
        cause: ["failure", `process ${process.incarnation}`],
        urgency: "failed",
        words: deathWords(session),
        answers: ["restart", "end"],
        sinceAt: process.exit?.at ?? session.reason.evidence.at,
      }),
    },
  ];
}

/** What a limit of the vendor stops is about the account (quota-condition.ts), not about the session. */
function failedTurn(session: Session): readonly Due[] {
  const { lastTurn, turns, turnOpen, activity } = session.conversation;
  if (lastTurn?.verdict !== "failed" || turnOpen || session.process.exit !== null || !isUnseen(session)) return [];
  const failure: FailureKind = lastTurn.failure ?? "unknown";
  const { tells, retry } = treatmentOf(failure);
  if (tells !== "at-once" || retry === "reset") return [];
  return [
    {
      isOnce: true,
      condition: about(session, {
        cause: ["failure", `turn ${turns}`],
        urgency: "failed",
        words: turnFailureWords(session, failure),
        answers: ["reply", "restart", "end"],
        sinceAt: activity.evidence.at,
      }),
    },
  ];
}

/** It was started again, and sits there: what it was asked is not done. */
function cutOffTurn(session: Session, { hasMessages }: Around): readonly Due[] {
  if (!isCutOff(session) || hasMessages || !isUnseen(session)) return [];
  const { incarnation } = session.process;
  return [
    {
      isOnce: true,
      condition: about(session, {
        cause: ["failure", `cut off ${incarnation}`],
        urgency: "failed",
        words: cutOffWords(session),
        answers: ["reply", "end"],
        sinceAt: session.conversation.activity.evidence.at,
      }),
    },
  ];
}

/** How urgent it is follows from what the session is to do about it. */
const BRANCH_URGENCY = { warn: "other", pause: "blocked", error: "failed" } as const;

function branch(session: Session): readonly Due[] {
  const { mismatchAt, policy } = session.checkout;
  if (mismatchAt === null || !isMismatched(session)) return [];
  return [
    {
      condition: about(session, {
        cause: ["branch-mismatch", mismatchAt],
        urgency: BRANCH_URGENCY[policy],
        words: branchWords(session),
        answers: session.process.exit === null ? ["reply", "restart", "end"] : ["restart", "end"],
        sinceAt: mismatchAt,
      }),
    },
  ];
}

function finished(session: Session, { hasMessages, hasParent }: Around): readonly Due[] {
  if (!isUnseen(session) || hasMessages) return [];
  const { process, conversation, wish, identity } = session;
  // Whoever is woken for it looks at it; that need not be a person.
  const isToldToParent = (reason: WakeReason): boolean => hasParent && identity.notify.includes(reason);
  // A restart that somebody asked for ends the process, too.
  const hasExited = process.exit !== null && wish.stop?.next !== "restart";
  if (hasExited) {
    // One that Reeve starts again has not finished.
    const isDone = session.state === "stopped" && process.exit?.code === 0 && process.restart.dueAt === null;
    if (!isDone || isToldToParent("exited")) return [];
    return [once(session, `process ${process.incarnation}`, exitWords(session), ["end", "restart"], process.exit.at)];
  }
  if (conversation.lastTurn?.verdict !== "completed" || conversation.turnOpen) return [];
  if (isToldToParent("turn-completed")) return [];
  const sinceAt = conversation.activity.evidence.at;
  return [once(session, `turn ${conversation.turns}`, finishedWords(session), ["reply", "end"], sinceAt)];
}

function once(session: Session, cause: string, words: Words, answers: readonly InboxAnswer[], sinceAt: number): Due {
  const condition = about(session, { cause: ["finished", cause], urgency: "finished", words, answers, sinceAt });
  return { isOnce: true, condition };
}

function unreachable(session: Session): readonly Due[] {
  const { liveness, exit } = session.process;
  if (liveness.status !== "unreachable" || exit !== null) return [];
  return [
    {
      afterMs: UNREACHABLE_AFTER_MS,
      condition: about(session, {
        cause: ["unreachable", liveness.evidence.at],
        urgency: "other",
        words: unreachableWords(session),
        answers: [],
        sinceAt: liveness.evidence.at,
      }),
    },
  ];
}

function about(
  session: Session,
  what: {
    /** The kind that it is when it begins, and what tells it from others of that kind. */
    readonly cause: readonly [InboxKind, string | number];
    readonly kind?: InboxKind;
    readonly urgency: InboxUrgency;
    readonly words: Words;
    readonly answers: readonly InboxAnswer[];
    readonly sinceAt: number;
    readonly approval?: Approval;
  },
): Condition {
  const [first, cause] = what.cause;
  return {
    id: itemIdOf(session.id, first, cause),
    sessionId: session.id,
    kind: what.kind ?? first,
    urgency: what.urgency,
    ...what.words,
    // Every item can be taken note of, and put off.
    answers: [...what.answers, "acknowledge", "snooze"],
    approvalId: what.approval?.id ?? null,
    newsRevision: session.notice.newsRevision,
    sinceAt: what.sinceAt,
  };
}
