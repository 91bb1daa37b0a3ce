/**
 * The words of the inbox: what happened, what Reeve did about it, what it
 * suggests. Whatever an agent wrote is made safe for a terminal and bounded,
 * because it is read alone, in a list or on a phone.
 */
import { durationText } from "../platform/duration.ts";
import { showHidden } from "../platform/hidden-characters.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Approval } from "../session/approval.ts";
import { mismatchSentence } from "../session/checkout.ts";
import { type FailureKind, treatmentOf } from "../session/failure.ts";
import type { InboxKind } from "../session/inbox-kind.ts";
import { crashLoopOf } from "../session/restart-policy.ts";
import { headlineOf } from "../session/need.ts";
import { isUnseen } from "../session/notice.ts";
import type { Session } from "../session/session.ts";
import type { Stay } from "../session/stay.ts";
import { TIME_OUTS, type TimeOutName } from "../session/time-out.ts";
import type { FiredTimeOut } from "../session/time-out-record.ts";
import type { Condition } from "./inbox.ts";
import { clipped } from "./mail.ts";

export interface Words {
  readonly title: string;
  readonly happened: string;
  readonly did: string;
  readonly suggests: string;
}

const MOST_TITLE = 160;
/** Of a command or a text that an agent wrote; the whole is in `reeve approvals`. */
const MOST_QUOTED = 600;

export function approvalWords(session: Session, approval: Approval): Words {
  return {
    title: titled(session, `asks: ${approval.title}`),
    happened: sentences(
      `It asks before it goes on: ${quoted(approval.subject ?? approval.title)}`,
      approval.cwd === null ? "" : `In ${quoted(approval.cwd)}.`,
      approval.reason === null ? "" : `It says why: ${quoted(approval.reason)}`,
      approval.choices === null
        ? ""
        : `Approve chooses "${quoted(approval.choices.approved)}", deny "${quoted(approval.choices.denied)}".`,
    ),
    did: "Reeve did not answer for you; the agent waits.",
    suggests: "Approve or deny it.",
  };
}

export function overdueWords(session: Session, approval: Approval, afterMs: number): Words {
  const words = approvalWords(session, approval);
  return {
    ...words,
    title: titled(session, `still asks, for more than ${durationText(afterMs)}: ${approval.title}`),
    did: `Reeve did not answer for you; the agent has waited for more than ${durationText(afterMs)}.`,
  };
}

export function questionWords(session: Session, overdueMs?: number): Words {
  const { asks } = session.conversation.activity;
  const { name } = session.identity;
  return {
    title: titled(
      session,
      `${overdueMs === undefined ? "asks" : `still asks, for more than ${durationText(overdueMs)}`}: ${asks ?? "something that only its screen shows"}`,
    ),
    happened: asks === null ? "It asks for something; its screen shows what." : `It asks: ${quoted(asks)}`,
    did: "Reeve did not answer for you; the session waits.",
    suggests: `Reply with a text, or answer it in the session: reeve attach ${name}.`,
  };
}

export function stallWords(session: Session, how: "stalled" | "hung"): Words {
  const { text, suggestion } = treatmentOf(how);
  const isHung = how === "hung";
  return {
    title: titled(
      session,
      isHung ? "hangs: its process does not run" : "has stalled: nothing was heard from its turn for a while",
    ),
    happened: sentences(text, isHung ? quoted(session.process.pulse?.evidence.detail ?? "") : ""),
    did: "Reeve leaves it alone, and closes this item when it hears from it again.",
    suggests: suggestion,
  };
}

export function timeOutWords(session: Session, which: TimeOutName, { afterMs, action, failed }: FiredTimeOut): Words {
  const after = durationText(afterMs);
  const what = TIMED_OUT[which](after);
  return {
    title: titled(session, `has ${what}`),
    happened: `It has ${what}. That is its ${TIME_OUTS[which].name} time-out.`,
    did: failed === null ? "Reeve leaves it alone: this time-out only reports." : sentences(quoted(failed)),
    suggests: action === "interrupt" ? treatmentOf("hung").suggestion : SUGGESTS[which],
  };
}

const TIMED_OUT: Readonly<Record<TimeOutName, (after: string) => string>> = {
  start: (after) => `not said within ${after} that it is ready`,
  turn: (after) => `been in one turn for more than ${after}`,
  idle: (after) => `been idle for more than ${after}`,
  approval: (after) => `waited for an answer for more than ${after}`,
  stop_grace: (after) => `not ended within ${after}`,
  age: (after) => `been there for more than ${after}`,
};

const SUGGESTS: Readonly<Record<TimeOutName, string>> = {
  start: "Look at its screen, then answer what it asks there, or restart it.",
  turn: "Look at its screen, then interrupt it or wait on.",
  idle: "Give it more to do, or end it.",
  approval: "Answer it.",
  stop_grace: "Nothing to do.",
  age: "End it, or leave it if you still need it.",
};

export function holdWords(session: Session, stay: Stay): Words {
  const { name } = session.identity;
  return {
    title: titled(session, "is not held much longer, and is ended then"),
    happened: sentences(`It is held for ${durationText(stay.forMs)}: ${quoted(stay.reason)}`),
    did: "When the hold is over, Reeve ends the session, because its idle or age time-out has passed.",
    suggests: `To keep it, hold it again: reeve hold ${name}.`,
  };
}

/** Its process died, or was never started, and Reeve does not try again. */
export function deathWords(session: Session): Words {
  const { process, reason, notice } = session;
  const treatment = treatmentOf(process.failure ?? "crash");
  const last = notice.lastLine === null ? "" : `Last on its screen: ${quoted(notice.lastLine)}`;
  return {
    title: titled(session, `failed: ${reason.text}`),
    happened: sentences(quoted(reason.text), last),
    did: attempts(session),
    suggests: session.wish.held === null ? treatment.suggestion : "Look at its data, then restart it if you know it.",
  };
}

function attempts(session: Session): string {
  const { process, identity, wish } = session;
  const loop = crashLoopOf(session);
  if (loop?.isGivenUp === true) return `Reeve started it again ${loop.restarts} times, and gave up.`;
  if (process.failure === "start-failed") return "Reeve does not try to start it again by itself.";
  if (wish.held !== null) return "Reeve does not start it by itself.";
  return identity.restartPolicy === "never"
    ? "Reeve did not start it again: its restart policy is never."
    : "Reeve did not start it again.";
}

export function turnFailureWords(session: Session, failure: FailureKind): Words {
  const { text, suggestion } = treatmentOf(failure);
  const { error = null } = session.conversation.lastTurn ?? {};
  return {
    title: titled(session, `failed a turn: ${error ?? text}`),
    happened: sentences(text, error === null ? "" : `The agent said: ${quoted(error)}`),
    did: "Reeve did not repeat the turn; the session waits for a message.",
    suggests: suggestion,
  };
}

export function cutOffWords(session: Session): Words {
  return {
    title: titled(session, "was cut off in a turn: its process died, and was started again"),
    happened: "Its process died in a turn, so what it was asked is not done.",
    did: "Reeve started it again in the same conversation. It did not repeat the turn.",
    suggests: "Look at what it did, then tell it to go on.",
  };
}

export function branchWords(session: Session): Words {
  const { text, suggestion } = treatmentOf("branch-mismatch");
  const { policy } = session.checkout;
  const mismatch = mismatchSentence(session) ?? text;
  return {
    title: titled(session, `left its branch: ${mismatch}`),
    happened: quoted(mismatch),
    did: BRANCH_DID[policy],
    suggests: suggestion,
  };
}

const BRANCH_DID = {
  warn: "Reeve only tells you: its branch policy is warn.",
  pause: "Reeve paused the session: its branch policy is pause.",
  error: "It gets no messages until it is on its branch again: its branch policy is error.",
} as const;

export function finishedWords(session: Session): Words {
  const line = headlineOf(session);
  return {
    title: titled(session, line === "" ? "finished its turn" : `finished: ${line}`),
    happened: sentences("Its turn is over.", line === "" ? "" : `It said: ${quoted(line)}`),
    did: "",
    suggests: "Read what it did, then give it more to do or end it.",
  };
}

export function exitWords(session: Session): Words {
  const line = headlineOf(session);
  return {
    title: titled(session, `ended well${line === "" ? "" : `: ${line}`}`),
    happened: sentences("Its program ended with status 0.", line === "" ? "" : `Its last line: ${quoted(line)}`),
    did: "",
    suggests: "Read what it did, then end the session.",
  };
}

export function unreachableWords(session: Session): Words {
  const { detail } = session.process.liveness.evidence;
  return {
    title: titled(session, "cannot be reached"),
    happened: sentences("Whether it runs is not known.", quoted(detail)),
    did: "Reeve keeps asking, and does nothing to the session until it knows.",
    suggests: "Look with reeve doctor.",
  };
}

/** Of a home fact: `free` is what is left, in words. */
export function diskWords(directory: string, free: string, isFull: boolean): Words {
  return {
    title: clipped(
      `The disk that holds ${safe(directory)} is ${isFull ? "full" : "filling up"}: ${free} left`,
      MOST_TITLE,
    ),
    happened: `The disk that holds ${safe(directory)} has ${free} left.`,
    did: isFull
      ? "Reeve starts nothing new; sessions that run can still be listed and ended."
      : "Reeve goes on, and starts nothing new once the disk is full.",
    suggests: treatmentOf("disk").suggestion,
  };
}

/** `limit`: which one is reached and until when, in half a sentence. */
export function quotaWords(limit: string, sessions: number): Words {
  const waiting = sessions === 1 ? "1 session draws on it." : `${sessions} sessions draw on it.`;
  const happened = `${limit.charAt(0).toUpperCase()}${limit.slice(1)}`;
  return {
    title: clipped(safe(happened).replaceAll(/\s+/g, " "), MOST_TITLE),
    happened: sentences(quoted(happened), waiting),
    did: "Reeve starts nothing that draws on it, keeps messages back, and goes on by itself after the reset: one session first, then the others.",
    suggests: "Nothing to do, or let sessions use another account; reeve quota shows who waits.",
  };
}

/** An item of work that Reeve does not give out any more by itself. */
export function workWords(item: {
  readonly id: string;
  readonly title: string;
  readonly why: string | null;
  readonly failures: number;
  readonly isReviewLimit: boolean;
}): Words {
  const { id, title, why, failures, isReviewLimit } = item;
  const retried = failures > 1 ? `It was given out ${failures} times. ` : "";
  return {
    title: clipped(safe(`Work failed: ${title}`).replaceAll(/\s+/g, " ").trim(), MOST_TITLE),
    happened: sentences(`The work item ${id} failed`, why === null ? "" : quoted(why)),
    did: `${isReviewLimit ? "" : retried}Reeve does not give it out again by itself.`,
    suggests: `Look at it with reeve work show ${id}; then reeve work retry ${id}, or done or cancel.`,
  };
}

/** Why an item is over, from the session as it is now; undefined: it is about none. */
export function whyOver({ kind, sessionId }: Condition, session: Session | undefined): string {
  if (sessionId === null) return HOME_OVER[kind] ?? "It is over.";
  if (session === undefined || session.wish.desired === "stopped") return "The session was ended.";
  if (session.process.exit !== null && IN_ITS_PROCESS.has(kind)) return "Its process ended.";
  const isSeen = (kind === "finished" || kind === "failure" || kind === "quota") && !isUnseen(session);
  return isSeen ? "It was seen." : SESSION_OVER[kind];
}

const HOME_OVER: Partial<Record<InboxKind, string>> = {
  disk: "There is room again.",
  quota: "The limit is open again.",
  work: "It was retried, accepted or cancelled.",
};

/** What ends with the process. */
const IN_ITS_PROCESS: ReadonlySet<InboxKind> = new Set([
  "approval",
  "overdue-approval",
  "question",
  "stall",
  "time-out",
]);

const NOT_ASKED = "It was answered, or is not asked any more.";

const SESSION_OVER: Readonly<Record<InboxKind, string>> = {
  approval: NOT_ASKED,
  "overdue-approval": NOT_ASKED,
  question: NOT_ASKED,
  stall: "Its turn goes on, or is over.",
  "time-out": "That is over.",
  hold: "It is held again, or not any more.",
  failure: "It went on, or was started again.",
  "branch-mismatch": "The declared branch is checked out again.",
  quota: "It went on.",
  work: "It went on.",
  finished: "It went on.",
  unreachable: "It can be reached again.",
  disk: "There is room again.",
};

function titled({ identity }: Session, what: string): string {
  return clipped(safe(`${identity.name} ${what}`).replaceAll(/\s+/g, " ").trim(), MOST_TITLE);
}

/** What somebody else wrote, and no more of it than can be read at a glance. */
function quoted(written: string): string {
  return clipped(safe(written).trim(), MOST_QUOTED);
}

function safe(written: string): string {
  return showHidden(stripTerminal(written));
}

function sentences(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => (/[.!?:…]["')]?$/.test(part) ? part : `${part}.`))
    .join(" ");
}
