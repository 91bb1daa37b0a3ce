/** What an item of the operator's inbox is about, how urgent that is, and what can be answered (fleet/inbox.ts). */

export const INBOX_KINDS = [
  "approval",
  "question",
  "failure",
  "stall",
  "overdue-approval",
  "time-out",
  "hold",
  "branch-mismatch",
  "disk",
  "quota",
  "work",
  "finished",
  "unreachable",
] as const;
export type InboxKind = (typeof INBOX_KINDS)[number];

/** In the order in which they are shown. */
export const INBOX_URGENCIES = ["blocked", "failed", "finished", "other"] as const;
export type InboxUrgency = (typeof INBOX_URGENCIES)[number];

/** What the operator can say to an item; which of them fit is in the item. */
export const INBOX_ANSWERS = [
  "approve",
  "deny",
  "reply",
  "interrupt",
  "restart",
  "end",
  "acknowledge",
  "snooze",
] as const;
export type InboxAnswer = (typeof INBOX_ANSWERS)[number];
