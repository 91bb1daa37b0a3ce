/**
 * What is logged of more than one session, or of Reeve itself: the home, mail,
 * the inbox, usage limits, worktrees, items of work.
 */
import type { CallerName } from "./caller.ts";
import type { InboxKind, InboxUrgency } from "./inbox-kind.ts";
import type { LimitConfidence } from "./limit.ts";
import type { Evidence } from "./session.ts";

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
  | {
      /** The database is older than what has happened (store/put-back.ts): its last number, and the highest known. */
      readonly type: "store-put-back";
      readonly head: number;
      readonly highest: number;
      readonly sessions: number;
    }
  | { readonly type: "state-file-quarantined"; readonly path: string; readonly why: string }
  | {
      /** Who called is the event's caller; null where that could not be proven. */
      readonly type: "call-refused";
      readonly operation: string;
      /** What the call named, as it was written; null where it named nothing. */
      readonly target: string | null;
      readonly code: string;
      readonly why: string;
      /** How often, since the last such event (supervisor/refusals.ts); missing: once. */
      readonly times?: number;
    }
  | {
      /** A receiver did not take a notification for a whole day (fleet/outbox.ts). */
      readonly type: "notification-abandoned";
      readonly channel: string;
      readonly notificationId: string;
      /** How many items of the inbox it was about. */
      readonly count: number;
      readonly attempts: number;
      readonly why: string;
    }
  | {
      /** What was kept long enough was removed (fleet/retention.ts): one event for each time that something was. */
      readonly type: "pruned";
      readonly sessions: number;
      readonly events: number;
      readonly mails: number;
      /** Missing in older logs. */
      readonly workItems?: number;
      /** In the directories of these sessions. */
      readonly bytes: number;
      /** Events up to this one are no longer all there. */
      readonly prunedThrough: number;
    }
  | {
      /** Never in the log: a stream tells it to whoever begins before what is kept. */
      readonly type: "events-missed";
      readonly since: number;
      readonly through: number;
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

/**
 * What the operator must know or decide (fleet/inbox.ts). It is about the
 * session of the event, or about none. Each `inbox-opened` is to be told: an
 * item that was put off, became more urgent or came true again is opened again,
 * under the same id.
 */
export type InboxEvent =
  | {
      readonly type: "inbox-opened";
      readonly itemId: string;
      readonly kind: InboxKind;
      readonly urgency: InboxUrgency;
      /** What happened, in one line. */
      readonly title: string;
      /** What Reeve did about it, and what it suggests; whole sentences. */
      readonly text: string;
    }
  | { readonly type: "inbox-closed"; readonly itemId: string; readonly kind: InboxKind; readonly why: string }
  | { readonly type: "inbox-acknowledged"; readonly itemId: string }
  | { readonly type: "inbox-snoozed"; readonly itemId: string; readonly untilAt: number };

/** What happened to a limit of a vendor that sessions draw on (fleet/quota.ts). It is about no session in particular. */
export type QuotaEvent =
  | {
      readonly type: "quota-parked";
      readonly account: string;
      readonly limit: string;
      /** When one session tries it again. */
      readonly untilAt: number;
      /** How sure that moment is. */
      readonly confidence: LimitConfidence;
      readonly source: Evidence["source"];
      /** In the agent's words. */
      readonly text: string;
      /** Who met it. */
      readonly reportedBy: string;
      /** How many sessions draw on it. */
      readonly sessions: number;
    }
  | {
      readonly type: "quota-opened";
      readonly account: string;
      readonly limit: string;
      /** How many sessions waited with something to do. */
      readonly sessions: number;
      /** It was not reset: it has got this name, under which it is waited for. */
      readonly replacedBy?: string;
    }
  | {
      readonly type: "quota-warned";
      readonly account: string;
      readonly limit: string;
      readonly usedPercent: number;
      readonly resetsAt: number | null;
    };

/** What became of a worktree that Reeve made (fleet/worktree.ts). It is about the session that it was made for. */
export type WorktreeEvent = { readonly worktreeId: string; readonly path: string; readonly branch: string } & (
  | {
      readonly type: "worktree-made";
      /** False: it was there, and is used again. */
      readonly isNew: boolean;
      readonly commit: string;
      /** What its branch began from; null where the branch was there before. */
      readonly base: string | null;
      readonly source: "fetched" | "local" | null;
      /** When the commit that it began from was made. */
      readonly committedAt: number | null;
    }
  | { readonly type: "worktree-kept"; readonly why: string }
  | { readonly type: "worktree-saved"; readonly ref: string; readonly commit: string }
  | { readonly type: "worktree-removed"; readonly savedRef: string | null }
);

/** What happened to an item of work (fleet/work.ts). It is about the session that works on it, or about none. */
export type WorkEvent =
  | {
      readonly type: "work-added";
      readonly workId: string;
      readonly title: string;
      readonly priority: number;
    }
  | {
      readonly type: "work-changed";
      readonly workId: string;
      readonly title: string;
      /** What was done to it (fleet/work-change.ts). */
      readonly change: string;
      readonly from: string;
      readonly state: string;
      /** The session that works or worked on it. */
      readonly worker: string | null;
      readonly why: string | null;
    };
