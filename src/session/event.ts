/**
 * The types of events, in the past tense, as they are stored in the log. The
 * log is only appended to. A program that waits reads it from a cursor, so it
 * can stop and continue later without missing an event.
 */
import type { ApprovalRequest, Concerns, Decision } from "./approval.ts";
import type { Surface } from "../platform/surface.ts";
import type { CallerName } from "./caller.ts";
import type { BranchPolicy } from "./branch-policy.ts";
import type { FailureKind } from "./failure.ts";
import type { Health } from "./health.ts";
import type { HomeEvent, InboxEvent, MailEvent, QuotaEvent, WorkEvent, WorktreeEvent } from "./home-event.ts";
import type { RestartPolicy } from "./restart-record.ts";
import type { TimeOutAction, TimeOutName } from "./time-out.ts";
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
  | { readonly type: "restart-policy-changed"; readonly from: RestartPolicy; readonly policy: RestartPolicy }
  | { readonly type: "end-requested"; readonly reason: Reason }
  | { readonly type: "end-cancelled"; readonly reason: Reason }
  | { readonly type: "session-seen" }
  | { readonly type: "session-renamed"; readonly from: string; readonly name: string }
  /** An archive of it was written, of so many bytes. */
  | { readonly type: "session-exported"; readonly bytes: number }
  | { readonly type: "stop-delayed"; readonly incarnation: number; readonly reason: Reason }
  | {
      readonly type: "session-exited";
      readonly incarnation: number;
      readonly exit: Exit;
      readonly reason: Reason;
      /** Missing where it ended well or on request, and in older logs. */
      readonly failure?: FailureKind;
      /** Who had asked for its end or restart; missing where nobody had. */
      readonly askedBy?: CallerName;
      /** The time-out that ends it; missing where none does. */
      readonly timedOut?: TimeOutName;
    }
  | { readonly type: "session-cleared"; readonly incarnation: number; readonly evidence: Evidence }
  | {
      readonly type: "session-errored" | "session-stopped";
      readonly reason: Reason;
      /** Its end has been told already: nobody is woken for it again. Missing in older logs. */
      readonly isAfterExit?: boolean;
      /** Who had asked for its end; missing where nobody had. */
      readonly askedBy?: CallerName;
      /** The time-out that ended it; missing where none did. */
      readonly timedOut?: TimeOutName;
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
  /** It works with another model, or may do more or less unasked; not told of the first that is known. */
  | {
      readonly type: "model-changed" | "mode-changed";
      readonly from: string;
      readonly to: string;
      readonly evidence: Evidence;
    }
  /** Its agent began its first turn before it had Reeve's tools. */
  | { readonly type: "tools-late"; readonly evidence: Evidence }
  /** Its agent replaced the conversation by a shorter one. */
  | { readonly type: "conversation-compacted"; readonly evidence: Evidence }
  /** Of a session of which everything is kept (persistence.ts): this cannot be kept now. Once for each cause. */
  | { readonly type: "persistence-warned"; readonly what: string; readonly why: string }
  /** It is kept again; `missing` lines are lost for good. */
  | { readonly type: "persistence-resumed"; readonly what: string; readonly missing: number }
  /** The capture proxy was killed: what it recorded after its last line, and until it was started again, is missing. */
  | { readonly type: "capture-interrupted"; readonly lastAt: number; readonly againAt: number }
  | { readonly type: "turn-started"; readonly turn: number; readonly evidence: Evidence }
  | { readonly type: "turn-completed"; readonly turn: number; readonly evidence: Evidence }
  | {
      readonly type: "turn-failed";
      readonly turn: number;
      readonly error: string;
      /** Missing in older logs. */
      readonly failure?: FailureKind;
      readonly evidence: Evidence;
    }
  | {
      readonly type: "turn-interrupted";
      readonly turn: number;
      readonly evidence: Evidence;
      /** Who had it interrupted, by a message or without; missing where nobody did. */
      readonly askedBy?: CallerName;
      /** That message; missing where there was none, and in older logs. */
      readonly messageId?: string;
      /** It lasted too long, and Reeve interrupted it; missing where that is not so. */
      readonly timedOut?: TimeOutName;
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
      /** Missing where it did not fail, and in older logs. */
      readonly failure?: FailureKind;
      readonly was: Verdict;
      readonly wasSource: Evidence["source"];
      readonly evidence: Evidence;
    }
  | {
      /** Another branch is checked out, or none, than the session declared. */
      readonly type: "branch-mismatched";
      readonly declared: string;
      /** Null: no branch is checked out. */
      readonly actual: string | null;
      readonly policy: BranchPolicy;
      readonly reason: Reason;
    }
  | { readonly type: "branch-restored"; readonly branch: string; readonly evidence: Evidence }
  | {
      /** In the checkout of a session that declared no branch. A commit stands for itself; null: there is no checkout. */
      readonly type: "branch-changed";
      readonly from: string | null;
      readonly now: string | null;
      readonly evidence: Evidence;
    }
  | { readonly type: "session-stalled"; readonly turn: number; readonly evidence: Evidence }
  | {
      /** Something lasted too long (time-out.ts). What is done about it follows, once. */
      readonly type: "timed-out";
      readonly which: TimeOutName;
      readonly afterSeconds: number;
      /** What is done: less than was chosen where that is not possible, and the reason says so. */
      readonly action: TimeOutAction;
      readonly reason: Reason;
      /** Of a turn: which. */
      readonly turn?: number;
      /** Of a question that is an approval: which. */
      readonly approvalId?: string;
    }
  | { readonly type: "interrupt-requested"; readonly turn: number; readonly reason: Reason }
  /** It was to be interrupted, and goes on. */
  | { readonly type: "interrupt-failed"; readonly turn: number; readonly reason: Reason }
  /** It must stay (stay.ts). */
  | { readonly type: "session-held" | "hold-ending"; readonly why: string; readonly untilAt: number }
  | { readonly type: "hold-released"; readonly why: string }
  | { readonly type: "hold-lapsed"; readonly why: string; readonly afterSeconds: number }
  | {
      /** Looks at its processes show something else than before. The other verdicts have events of their own. */
      readonly type: "health-changed";
      readonly from: Health["verdict"];
      readonly health: Health;
    }
  | {
      readonly type: "approval-requested";
      readonly approval: ApprovalRequest;
      /** Missing where the agent does not tell, and in older logs. */
      readonly concerns?: Concerns;
      readonly evidence: Evidence;
      /** The same question had been seen before anything told of it, and was asked under this id. */
      readonly replaces?: string;
      /** The approval rule that answers it, in the same commit: nobody is woken. Missing where none does. */
      readonly rule?: string;
    }
  | {
      readonly type: "approval-answer-requested";
      readonly approvalId: string;
      readonly decision: Decision;
      /** In which it is asked; missing in older logs. */
      readonly turn?: number;
      /** The approval rule that decided it; missing where a caller did. */
      readonly rule?: string;
    }
  | {
      readonly type: "approval-settled";
      readonly approvalId: string;
      readonly title: string;
      /** Null: it is no longer asked, and nobody could see how it was answered. */
      readonly decision: Decision | null;
      /** Whoever answered through Reeve, somebody in the pane, or the agent itself, which went on. */
      readonly by: CallerName | "pane" | "agent";
      /** How whoever answered through Reeve came to it; missing where nobody did, and in older logs. */
      readonly via?: Surface;
      /** The approval rule that decided it; missing where none did. */
      readonly rule?: string;
      readonly evidence: Evidence;
    }
  | {
      readonly type: "approval-answer-failed";
      readonly approvalId: string;
      readonly reason: Reason;
      /** The approval rule whose answer it was: the question waits for a person now. Missing where a caller answered. */
      readonly rule?: string;
    }
  | {
      readonly type: "message-admitted";
      readonly messageId: string;
      readonly bytes: number;
      /** Reeve wakes the session: nobody asked anything of it. */
      readonly isWake?: true;
      /** Reeve goes on with a turn that failed because of a limit. */
      readonly isResume?: true;
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
      /** It also told the session that it was restarted in the middle of a turn. */
      readonly isRecovery?: true;
    };

export type EventBody = SessionEvent | HomeEvent | MailEvent | InboxEvent | QuotaEvent | WorktreeEvent | WorkEvent;

export type EventType = EventBody["type"];

/** An event as the log holds it: `seq` is the one monotonic sequence. */
export interface LoggedEvent {
  readonly seq: number;
  readonly at: number;
  readonly sessionId: string | null;
  /** Whose wish it comes from, in the same commit; null where nobody asked, or an earlier version wrote it. */
  readonly caller: CallerName | null;
  /** How that caller came to Reeve; missing where nobody asked, and in older logs. */
  readonly via?: Surface;
  readonly body: EventBody;
}

export const TURN_ENDS = ["turn-completed", "turn-failed", "turn-interrupted"] as const;

export type TurnEnd = Extract<EventBody, { readonly type: (typeof TURN_ENDS)[number] }>;

export function isTurnEnd(body: EventBody): body is TurnEnd {
  return TURN_ENDS.some((type) => type === body.type);
}
