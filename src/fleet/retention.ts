/**
 * What may be removed, and what keeps it: all rules of retention, as two tables.
 * Pure; supervisor/retention/ does it.
 *
 * VETOES: reasons for which an ended session stays, whatever its age. A new
 * reason is a row, and a fact in `Known` if the record does not tell it.
 * RECORD_RULES: other kinds of records. A new kind is a row that says when a
 * record was over, and which settings limit it.
 */
import type { Kept, RecordKind } from "../session/record-kind.ts";
import { isEnded, type Session } from "../session/session.ts";
import { mailKind } from "./mail.ts";
import type { RetentionSettings } from "./retention-settings.ts";
import { type WorkItem, workKind } from "./work.ts";

/** What is known about an ended session beside its record. */
export interface Known {
  readonly openMessages: number;
  readonly unreadMail: number;
  /** Items of the inbox about it that are not closed. */
  readonly openItems: number;
  /** Something that it started, or what that started, has not ended. */
  readonly hasLivingDescendant: boolean;
  /** The session that started it lives and has not been told how it ended. */
  readonly isParentUntold: boolean;
  /** Where the worktree is that Reeve made for it. */
  readonly worktree: string | null;
  /** What open work refers to it, in words; null: nothing does. */
  readonly referenced: string | null;
  /** Why its directory cannot be removed; null: it can. */
  readonly directoryProblem: string | null;
}

export const NOTHING_KNOWN: Known = {
  openMessages: 0,
  unreadMail: 0,
  openItems: 0,
  hasLivingDescendant: false,
  isParentUntold: false,
  worktree: null,
  referenced: null,
  directoryProblem: null,
};

interface Case {
  readonly session: Session;
  readonly known: Known;
  readonly settings: RetentionSettings;
  readonly now: number;
}

export interface Veto {
  /** Stable, for programs. */
  readonly code: string;
  /** One sentence, for people. */
  readonly why: string;
}

/** Each says why the session stays, or null. */
const VETOES: Readonly<Record<string, (about: Case) => string | null>> = {
  "not-ended": ({ session }) => (isEnded(session) ? null : "It has not ended."),
  held: ({ session, now }) => {
    const { held, stay } = session.wish;
    if (stay !== null) return `It is held: ${stay.reason}`;
    return held === null || (held.until !== null && held.until <= now) ? null : `It is held: ${held.reason}`;
  },
  referenced: ({ known }) => known.referenced,
  "open-message": ({ known }) => (known.openMessages === 0 ? null : "A message waits for it."),
  "open-item": ({ known }) =>
    known.openItems === 0 ? null : "Your inbox has an item about it that is not closed: reeve inbox",
  "unread-mail": ({ session, known, settings, now }) =>
    known.unreadMail === 0 || endOf(session) <= now - settings.unreadMailMs
      ? null
      : `It has ${known.unreadMail} unread ${known.unreadMail === 1 ? "mail" : "mails"}: reeve mail --of ${session.id}`,
  "living-descendant": ({ known }) => (known.hasLivingDescendant ? "A session that it started has not ended." : null),
  "parent-untold": ({ known }) =>
    known.isParentUntold ? "The session that started it has not been told how it ended." : null,
  worktree: ({ session, known }) =>
    known.worktree === null
      ? null
      : `Its worktree ${known.worktree} is still there: reeve worktree remove ${session.identity.name}`,
  unexported: ({ session }) =>
    session.identity.launch.persistence === null || (session.notice.exportedAt ?? 0) >= endOf(session)
      ? null
      : `It was kept for a post-mortem and has not been exported since it ended: reeve export ${session.id}`,
  directory: ({ known }) => known.directoryProblem,
};

/** The first reason for which it stays. */
export function vetoOf(session: Session, known: Known, settings: RetentionSettings, now: number): Veto | null {
  for (const [code, judge] of Object.entries(VETOES)) {
    const why = judge({ session, known, settings, now });
    if (why !== null) return { code, why };
  }
  return null;
}

/** When it ended: not its process, which may have died long before somebody ended the session. */
export function endOf({ process, reason, wish }: Session): number {
  return Math.max(process.endedAt ?? 0, reason.evidence.at, wish.lastCommand?.at ?? 0);
}

/** Which setting it exceeds. */
export type Excess = "age" | "count" | "size";

export interface Candidate {
  readonly session: Session;
  readonly bytes: number;
  readonly veto: Veto | null;
}

export interface Choice {
  /** Oldest first. */
  readonly go: readonly (Candidate & { readonly excess: Excess })[];
  /** They exceed a setting as well, and stay. */
  readonly stay: readonly (Candidate & { readonly veto: Veto })[];
}

/** What is too much goes from the oldest on. What stays because of a veto takes no room from the others. */
export function choose(candidates: readonly Candidate[], settings: RetentionSettings, now: number): Choice {
  const go: (Candidate & { readonly excess: Excess })[] = [];
  const stay: (Candidate & { readonly veto: Veto })[] = [];
  let count = 0;
  let bytes = 0;
  for (const candidate of candidates.toSorted(newestEndFirst)) {
    const excess = excessOf(candidate, { count, bytes }, settings, now);
    if (candidate.veto !== null) {
      if (excess !== null) stay.push({ ...candidate, veto: candidate.veto });
      continue;
    }
    if (excess !== null) go.push({ ...candidate, excess });
    count += 1;
    bytes += candidate.bytes;
  }
  return { go: go.toReversed(), stay: stay.toReversed() };
}

function excessOf(
  { session, bytes }: Candidate,
  newer: { readonly count: number; readonly bytes: number },
  settings: RetentionSettings,
  now: number,
): Excess | null {
  if (endOf(session) <= now - settings.endedMs) return "age";
  if (newer.count >= settings.endedSessions) return "count";
  return newer.bytes + bytes > settings.outputsBytes ? "size" : null;
}

function newestEndFirst(one: Candidate, other: Candidate): number {
  return byEnd(other.session, one.session);
}

/** Oldest end first; ids decide between equals, so that a page of them can be continued. */
export function byEnd(one: Session, other: Session): number {
  return endOf(one) - endOf(other) || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** Of a living session the newest events stay, however old they are: what was asked of it, how its last turns ended. */
export const KEPT_EVENTS_OF_LIVING = 1_000;

/** Records of a kind that go by age and number. */
export interface RecordRule<Stored extends Kept> {
  readonly kind: RecordKind<Stored>;
  /** When it was over; null: it is not, and stays. */
  overAt(record: Stored): number | null;
  longestMs(settings: RetentionSettings): number;
  most(settings: RetentionSettings): number;
}

const mailRule: RecordRule<ReturnType<typeof mailKind.parse>> = {
  kind: mailKind,
  overAt: ({ state, sentAt, readAt, archivedAt, retractedAt }) =>
    state === "unread" ? null : Math.max(sentAt, readAt ?? 0, archivedAt ?? 0, retractedAt ?? 0),
  longestMs: ({ mailMs }) => mailMs,
  most: ({ mails }) => mails,
};

/** One that failed waits for a person, who retries or cancels it. */
const workRule: RecordRule<WorkItem> = {
  kind: workKind,
  overAt: ({ state, changedAt }) => (state === "done" || state === "cancelled" ? changedAt : null),
  longestMs: ({ workMs }) => workMs,
  most: ({ workItems }) => workItems,
};

/** By what they are called in `pruned` events and answers. */
export const RECORD_RULES = { mails: mailRule, workItems: workRule } as const;

/** `tooMany`: how many more there are than may be kept. */
export function isOver<Stored extends Kept>(
  rule: RecordRule<Stored>,
  record: Stored,
  { settings, now, tooMany }: { readonly settings: RetentionSettings; readonly now: number; readonly tooMany: number },
): boolean {
  const overAt = rule.overAt(record);
  return overAt !== null && (tooMany > 0 || overAt <= now - rule.longestMs(settings));
}
