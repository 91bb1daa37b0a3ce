/**
 * The types of events, in the past tense, as they are stored in the log. The
 * log is only appended to. A program that waits reads it from a cursor, so it
 * can stop and continue later without missing an event.
 */
import type { ApprovalRequest, Decision } from "./approval.ts";
import type { CallerName } from "./caller.ts";
import type { Activity, Evidence, Exit, Liveness, Observability, Reason, Verdict } from "./session.ts";

export type SessionEvent =
  | { readonly type: "session-planned"; readonly name: string; readonly agent: string; readonly role: string }
  | { readonly type: "session-starting"; readonly incarnation: number; readonly reason: Reason }
  | {
      readonly type: "session-running";
      readonly incarnation: number;
      readonly reason: Reason;
      /** Null where it has none on this machine. */
      readonly pid: number | null;
    }
  | {
      readonly type: "session-adopted";
      readonly incarnation: number;
      readonly pid: number | null;
      readonly evidence: Evidence;
    }
  | { readonly type: "start-delayed"; readonly incarnation: number; readonly reason: Reason }
  | { readonly type: "environment-lost"; readonly incarnation: number; readonly reason: Reason }
  | { readonly type: "pause-requested"; readonly reason: Reason }
  | { readonly type: "session-paused"; readonly reason: Reason }
  | { readonly type: "resume-requested"; readonly reason: Reason }
  | { readonly type: "session-resumed"; readonly reason: Reason }
  | { readonly type: "restart-requested"; readonly reason: Reason }
  | { readonly type: "restart-scheduled"; readonly dueAt: number; readonly reason: Reason }
  | { readonly type: "restart-abandoned"; readonly reason: Reason }
  | { readonly type: "end-requested"; readonly reason: Reason }
  | { readonly type: "end-cancelled"; readonly reason: Reason }
  | { readonly type: "session-seen" }
  | { readonly type: "session-renamed"; readonly from: string; readonly name: string }
  | { readonly type: "stop-delayed"; readonly incarnation: number; readonly reason: Reason }
  | {
      readonly type: "session-exited";
      readonly incarnation: number;
      readonly exit: Exit;
      readonly reason: Reason;
      /** Who had asked for its end or restart; missing where nobody had. */
      readonly askedBy?: CallerName;
    }
  | { readonly type: "session-cleared"; readonly incarnation: number; readonly evidence: Evidence }
  | {
      readonly type: "session-errored" | "session-stopped";
      readonly reason: Reason;
      /** Its end has been told already: nobody is woken for it again. Missing in older logs. */
      readonly isAfterExit?: boolean;
      /** Who had asked for its end; missing where nobody had. */
      readonly askedBy?: CallerName;
    }
  | { readonly type: "liveness-changed"; readonly from: Liveness["status"]; readonly liveness: Liveness }
  | {
      readonly type: "observability-changed";
      readonly from: Observability["status"];
      readonly observability: Observability;
    }
  | {
      readonly type: "activity-changed";
      readonly from: Activity["status"];
      readonly activity: Activity;
      /** The same question, in the words of another source. */
      readonly isReworded?: boolean;
    }
  | { readonly type: "conversation-known"; readonly nativeId: string; readonly evidence: Evidence }
  | { readonly type: "turn-started"; readonly turn: number; readonly evidence: Evidence }
  | { readonly type: "turn-completed"; readonly turn: number; readonly evidence: Evidence }
  | { readonly type: "turn-failed"; readonly turn: number; readonly error: string; readonly evidence: Evidence }
  | {
      readonly type: "turn-interrupted";
      readonly turn: number;
      readonly evidence: Evidence;
      /** Whose message was to interrupt it; missing where none was. */
      readonly askedBy?: CallerName;
    }
  | {
      /** Two sources that both saw the same end told it differently; the first counts. */
      readonly type: "turn-disputed";
      readonly turn: number;
      readonly counted: Verdict;
      readonly countedSource: Evidence["source"];
      readonly other: Verdict;
      readonly evidence: Evidence;
    }
  | {
      /** How it ended had only been inferred; somebody who saw it told otherwise. */
      readonly type: "turn-corrected";
      readonly turn: number;
      readonly verdict: Verdict;
      readonly error: string | null;
      readonly was: Verdict;
      readonly wasSource: Evidence["source"];
      readonly evidence: Evidence;
    }
  | { readonly type: "session-stalled"; readonly turn: number; readonly evidence: Evidence }
  | {
      readonly type: "approval-requested";
      readonly approval: ApprovalRequest;
      readonly evidence: Evidence;
      /** The same question had been seen before anything told of it, and was asked under this id. */
      readonly replaces?: string;
    }
  | {
      readonly type: "approval-answer-requested";
      readonly approvalId: string;
      readonly decision: Decision;
      /** In which it is asked; missing in older logs. */
      readonly turn?: number;
    }
  | {
      readonly type: "approval-settled";
      readonly approvalId: string;
      readonly title: string;
      /** Null: it is no longer asked, and nobody could see how it was answered. */
      readonly decision: Decision | null;
      /** Whoever answered through Reeve, somebody in the pane, or the agent itself, which went on. */
      readonly by: CallerName | "pane" | "agent";
      readonly evidence: Evidence;
    }
  | { readonly type: "approval-answer-failed"; readonly approvalId: string; readonly reason: Reason }
  | {
      readonly type: "message-admitted";
      readonly messageId: string;
      readonly bytes: number;
      /** Reeve wakes the session: nobody asked anything of it. */
      readonly isWake?: true;
    }
  | {
      readonly type: "message-delivered";
      readonly messageId: string;
      /** That takes it: the one under way when it was leased, else the next; missing where that is not known. */
      readonly turn?: number;
      readonly evidence: Evidence;
    }
  | { readonly type: "message-refused"; readonly messageId: string; readonly reason: Reason }
  | { readonly type: "message-unknown"; readonly messageId: string; readonly reason: Reason }
  | {
      /** The session was told, by a line of Reeve's own, that something happened to what it started, or that it has mail. */
      readonly type: "wake-sent";
      readonly messageId: string;
      /** It is about what came after `since`, up to `through`. */
      readonly since: number;
      readonly through: number;
      readonly count: number;
    };

/** What happened to Reeve itself rather than to one session. */
export type HomeEvent =
  | { readonly type: "daemon-started"; readonly pid: number; readonly version: string; readonly sessions: number }
  | { readonly type: "daemon-stopped"; readonly pid: number }
  | {
      /** The daemon before did not stop in order; what is null is not known. */
      readonly type: "daemon-died";
      readonly pid: number | null;
      readonly version: string | null;
      readonly startedAt: number | null;
      /** What it said itself, with its stack; null when it was killed. */
      readonly error: string | null;
    }
  | { readonly type: "runtime-lost"; readonly runtime: string; readonly sessions: number; readonly evidence: Evidence }
  | { readonly type: "store-rebuilt"; readonly from: string; readonly sessions: number; readonly quarantined: string }
  | { readonly type: "state-file-quarantined"; readonly path: string; readonly why: string }
  | {
      /** Who called is the event's caller; null where that could not be proven. */
      readonly type: "call-refused";
      readonly operation: string;
      /** What the call named, as it was written; null where it named nothing. */
      readonly target: string | null;
      readonly code: string;
      readonly why: string;
    }
  | { readonly type: "orphan-found"; readonly what: string; readonly evidence: Evidence }
  | { readonly type: "orphan-reaped"; readonly what: string; readonly evidence: Evidence };

/** What happened to a mail (fleet/mail.ts). It is about the recipient's session, or about none if that is the operator. */
export type MailEvent =
  | {
      readonly type: "mail-sent";
      readonly mailId: string;
      readonly thread: string;
      /** The id of a session, or `operator`. */
      readonly to: string;
      readonly from: CallerName;
      /** The name that the sending session had. */
      readonly fromName: string | null;
      readonly kind: "note" | "hand-off";
      readonly priority: "low" | "normal" | "high";
    }
  | {
      readonly type: "mail-read" | "mail-archived" | "mail-retracted";
      readonly mailId: string;
      readonly thread: string;
      readonly to: string;
    };

export type EventBody = SessionEvent | HomeEvent | MailEvent;

export type EventType = EventBody["type"];

/** An event as the log holds it: `seq` is the one monotonic sequence. */
export interface LoggedEvent {
  readonly seq: number;
  readonly at: number;
  readonly sessionId: string | null;
  /** Whose wish it comes from, in the same commit; null where nobody asked, or an earlier version wrote it. */
  readonly caller: CallerName | null;
  readonly body: EventBody;
}

export const TURN_ENDS = ["turn-completed", "turn-failed", "turn-interrupted"] as const;

export type TurnEnd = Extract<EventBody, { readonly type: (typeof TURN_ENDS)[number] }>;

export function isTurnEnd(body: EventBody): body is TurnEnd {
  return TURN_ENDS.some((type) => type === body.type);
}
