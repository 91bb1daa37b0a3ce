/** What the index holds, and what the daemon asks of the thread that keeps it. Plain data: it crosses between threads. */
import type { LineCursor } from "../platform/line-cursor.ts";
import type { Usage } from "../session/reading.ts";
import type { Verdict } from "../session/session.ts";
import type { Excerpt } from "./hit.ts";

export const ENTRY_KINDS = ["message", "tool", "event", "mail"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Something that can be found. It holds no secret: these are taken out before it is made. */
export interface Entry {
  readonly kind: EntryKind;
  /** Of mail: its recipient, where that is a session. */
  readonly sessionId: string | null;
  /** Of mail: its sender, where that is a session. */
  readonly peer: string | null;
  readonly agent: string | null;
  readonly role: string | null;
  readonly at: number;
  /** Who speaks, the tool, the type of the event, or whom a mail is from. */
  readonly who: string;
  /** Of an event its number, of mail its id. */
  readonly ref: string | null;
  readonly text: string;
}

/** A file that is followed: the transcript of a session, or its log of calls to the model. */
export interface Followed {
  readonly sessionId: string;
  readonly path: string;
  readonly cursor: LineCursor | null;
  /** What its agent last said that everything cost so far, where it says it so. */
  readonly total: Usage | null;
  /** Nothing is written to it any more, and all of it was read. */
  readonly isDone: boolean;
}

export interface TurnChange {
  readonly sessionId: string;
  readonly turn: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly verdict?: Verdict;
  readonly failure?: string | null;
}

/** Null: not known, which is not 0. */
export interface UsageRow {
  readonly sessionId: string;
  readonly at: number;
  readonly usage: Usage;
}

/** One call to the model, as session_oai_raw.log tells of its end. */
export interface CallRow {
  readonly sessionId: string;
  readonly at: number;
  readonly latencyMs: number | null;
  readonly isError: boolean;
}

/** One transaction: what was read, and up to where. */
export interface Batch {
  /** Of the index that the reader knows; another one refuses it. */
  readonly epoch: string;
  readonly entries: readonly Entry[];
  readonly turns?: readonly TurnChange[];
  readonly usages?: readonly UsageRow[];
  readonly calls?: readonly CallRow[];
  /** Sessions that the numbers of this batch are of. */
  readonly about?: Readonly<Record<string, { readonly agent: string; readonly role: string }>>;
  /** Events up to here are in. */
  readonly eventCursor?: number;
  readonly followed?: Followed;
  /** What the file held before is no longer there. */
  readonly wasReplaced?: boolean;
  readonly removedMails?: readonly string[];
}

export interface IndexState {
  readonly epoch: string;
  /** Which home it belongs to. */
  readonly instance: string;
  readonly eventCursor: number;
  /** Up to which removed events have been taken out. */
  readonly prunedThrough: number;
  readonly followed: readonly Followed[];
  /** Of which it holds anything but events and mail. */
  readonly sessions: readonly string[];
  /** Why it had to be made anew; null: there simply was none. */
  readonly damage: string | null;
  readonly isNew: boolean;
}

export interface Ask {
  readonly text: string;
  readonly kinds: readonly EntryKind[];
  readonly sessionId: string | null;
  readonly agent: string | null;
  readonly role: string | null;
  readonly since: number | null;
  readonly until: number | null;
  readonly limit: number;
  readonly page: Page | null;
  /** What the caller may see: sessions, and whose mail. Null: everything. */
  readonly allowed: { readonly sessionIds: readonly string[]; readonly mailOf: string } | null;
}

/** Ranked are the newest few hundred hits, then the few hundred before them, and so on. */
export interface Page {
  /** Entries with a lower number. */
  readonly before: number;
  /** Already shown of these. */
  readonly offset: number;
}

export interface FoundEntry extends Omit<Entry, "text"> {
  readonly excerpt: Excerpt;
  readonly score: number;
}

export interface Found {
  readonly entries: readonly FoundEntry[];
  readonly next: Page | null;
}

export const GROUPINGS = ["agent", "role", "day", "session"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface NumbersAsk {
  readonly by: Grouping;
  readonly since: number | null;
  readonly until: number | null;
  readonly sessionIds: readonly string[] | null;
}

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** Null everywhere: not known. */
export interface Numbers {
  readonly group: string;
  readonly sessions: number;
  readonly turns: { readonly completed: number; readonly failed: number; readonly interrupted: number };
  readonly failures: Readonly<Record<string, number>>;
  readonly turnMs: Percentiles | null;
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number } | null;
  readonly costUsd: number | null;
  /** Of some answers the cost is not known. */
  readonly isCostPartial: boolean;
  readonly calls: { readonly count: number; readonly failed: number; readonly latencyMs: Percentiles | null } | null;
}

/** All that the thread does, by name. */
export interface IndexWork {
  state(): IndexState;
  write(batch: Batch): void;
  /** Null: whichever there is. */
  find(ask: Ask, epoch: string | null): Found;
  numbers(ask: NumbersAsk, epoch: string | null): readonly Numbers[];
  /** Transcripts and numbers of a session. */
  forget(sessionId: string): void;
  /** Numbers of events that are in, above `after` and up to `through`. */
  eventsIn(after: number, through: number, limit: number): readonly number[];
  removeEvents(seqs: readonly number[]): void;
  notePruned(through: number): void;
  mailsIn(after: string, limit: number): readonly string[];
  removeMails(ids: readonly string[]): void;
  /** Made anew, for this home. */
  reset(instance: string): void;
  close(): void;
}
