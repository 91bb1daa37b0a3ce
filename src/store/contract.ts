/**
 * The store: one append-only event log, the registry of current sessions, the
 * mailbox and records of other kinds, changed together by `commit` or not at all. Only the supervisor
 * commits. Everything returned is immutable.
 */
import type { Surface } from "../platform/surface.ts";
import type { CallerName } from "../session/caller.ts";
import type { EventBody, EventType, LoggedEvent } from "../session/event.ts";
import type { Message } from "../session/message.ts";
import type { Kept, RecordKind } from "../session/record-kind.ts";
import type { Session } from "../session/session.ts";
import type { Change } from "./change.ts";

/** All of it is kept, or nothing. */
export interface Commit {
  /** Made in this order. */
  readonly changes?: readonly Change[];
  /** Made after those, for records that hold the number of an event of this commit: it is given that of the first. */
  readonly numbered?: (firstSeq: number) => readonly Change[];
  readonly events?: readonly NewEvent[];
  readonly idempotency?: IdempotencyRecord;
}

export interface NewEvent {
  readonly sessionId: string | null;
  /** Whose wish it comes from. */
  readonly caller?: CallerName | null;
  /** How that caller came to Reeve. */
  readonly via?: Surface;
  readonly body: EventBody;
}

/** Which answer a key already has; `subject` is the id of what the first call made or changed. */
export interface IdempotencyRecord {
  readonly key: string;
  readonly operation: string;
  /** Hash of the request, so that a reused key with another request is refused. */
  readonly fingerprint: string;
  readonly subject: string;
  readonly at: number;
}

/** Events with seq > after, in order, at most `limit`; of these sessions, of these types, of this caller only. */
export interface EventQuery {
  readonly after: number;
  readonly limit: number;
  readonly sessionIds?: readonly string[];
  readonly types?: readonly EventType[];
  readonly caller?: CallerName;
}

/**
 * Reading takes time, in which more may be committed. Whoever waits for
 * something follows the log first and reads then: what is committed from that
 * moment on is told, what was committed before is read.
 */
export interface EventLog {
  /** The highest sequence number committed; 0 when empty. Known without reading. */
  head(): number;
  /** The highest number of an event that was removed; 0: none was. A few before it may still be there. */
  prunedThrough(): number;
  read(query: EventQuery): Promise<readonly LoggedEvent[]>;
  /** The same without what they say: for whoever only counts and removes. */
  places(query: { readonly after: number; readonly limit: number }): Promise<readonly EventPlace[]>;
  /** The number of the event before which a session has `newest` others; 0: it has no more than these. */
  newestFrom(sessionId: string, newest: number): number;
  /** The newest event of a session that is of one of these types and fits. */
  latest(query: {
    readonly sessionId: string;
    readonly types: readonly EventType[];
    readonly fits?: (body: EventBody) => boolean;
    /** Only those with a lower number. */
    readonly before?: number;
  }): Promise<LoggedEvent | undefined>;
  /**
   * Called with each committed batch, in order; must not throw. `first`: before all others, for those who pass on what
   * somebody waits for.
   */
  follow(listener: (events: readonly LoggedEvent[]) => void, when?: "first" | "later"): () => void;
}

export interface EventPlace {
  readonly seq: number;
  readonly at: number;
  readonly sessionId: string | null;
}

export interface Registry {
  get(id: string): Session | undefined;
  /** In order of creation, also those that ended: there may be thousands. */
  all(): readonly Session[];
  /** In order of creation, those that have not ended; the others cost nothing here. */
  living(): readonly Session[];
  /** Those that this one started, ended ones too. */
  childrenOf(parentId: string): readonly Session[];
  byName(name: string): readonly Session[];
}

export interface Mailbox {
  get(messageId: string): Message | undefined;
  /** How many a session has, whatever became of them. */
  count(sessionId: string): number;
  /** Messages of a session that are admitted or leased, in order. */
  open(sessionId: string): readonly Message[];
  /** What was last typed into a session, newest first: messages that are no longer admitted. */
  typed(sessionId: string, most: number): readonly Message[];
}

/** Of one kind, in order of creation. */
export interface Records<Stored extends Kept> {
  get(id: string): Promise<Stored | undefined>;
  /** All of them, or those of one group. */
  list(group?: string): Promise<readonly Stored[]>;
  /** The names of the groups that begin with this; no record is read for it. */
  groups(prefix: string): Promise<readonly string[]>;
  /** Of one group, newest first, at most `limit`; only those that are older than the one with this place. */
  page(query: {
    readonly group: string;
    readonly before?: number | undefined;
    readonly limit: number;
  }): Promise<readonly Placed<Stored>[]>;
  /** Of all groups, oldest first, those with a higher place; a part at a time. `next` is null when all were seen. */
  scan(after: number): Promise<{ readonly found: readonly Placed<Stored>[]; readonly next: number | null }>;
  count(): Promise<number>;
}

/** A record and its place in the order of creation. */
export interface Placed<Stored extends Kept> {
  readonly place: number;
  readonly record: Stored;
}

/** The one way to change anything. */
export interface Committer {
  /** Durable when resolved (fsynced); concurrent commits share a transaction, each all or nothing. */
  readonly commit: (commit: Commit) => Promise<readonly LoggedEvent[]>;
}

export interface Store extends Committer {
  readonly log: EventLog;
  readonly registry: Registry;
  readonly mailbox: Mailbox;
  /** Of any kind but these; what a commit has put is read from the moment it resolves. */
  records<Stored extends Kept>(kind: RecordKind<Stored>): Records<Stored>;
  idempotency(key: string): IdempotencyRecord | undefined;
  /** This home's id, made once; part of every mark. Matches ^[a-z0-9]{8,16}$. */
  readonly instance: string;
  /** What had to be repaired while opening. */
  readonly repairs: readonly EventBody[];
  /**
   * For a session that is being removed: resolves when nobody writes its state.json, and from then on nobody does until
   * the session is gone or what is returned is called.
   */
  retire(sessionId: string): Promise<() => void>;
  /** Gives pages that are free back to the disk, a few at a time, and leaves the reserve; says how many bytes. */
  compact(): Promise<number>;
  /** Of the database with its -wal. */
  bytes(): number;
  /** Resolves when every state.json was compared with the database. */
  readonly verified: Promise<void>;
  /** What somebody should look at, one sentence each. */
  warnings(): readonly string[];
  /** Waits for pending writes (state.json included) and closes. */
  close(): Promise<void>;
}
