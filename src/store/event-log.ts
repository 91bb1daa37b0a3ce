/**
 * The event log: appends inside the transaction of a commit, and tells
 * followers once that transaction is durable. The newest events stay in memory
 * for those who are nearly up to date; everything older is read from the
 * database. It must never show an event that is not committed.
 */
import type { Clock } from "../platform/clock.ts";
import type { EventBody, LoggedEvent } from "../session/event.ts";
import type { EventLog, EventPlace, EventQuery, NewEvent } from "./contract.ts";
import { areTyped } from "./event-columns.ts";
import { type EventRow, selectAfter, selectBefore } from "./event-rows.ts";
import { deepFreeze } from "./freeze.ts";
import { guardRead, parseColumn, type Sqlite } from "./sqlite.ts";

/** A follower that is this far behind is served from memory. */
const RING_SIZE = 1_000;

/** Looking back by type usually ends with the first. */
const BACK_PAGE = 20;

/** Statements that write so many rows, largest first: a row of its own costs twice as much. */
const INSERTS = [64, 16, 4, 2, 1].map((rows) => ({
  rows,
  sql: `INSERT INTO events (at, session_id, type, caller, via, body) VALUES ${Array(rows).fill("(?, ?, ?, ?, ?, ?)").join(", ")}`,
}));

type Listener = (events: readonly LoggedEvent[]) => void;

export interface Draft extends Omit<LoggedEvent, "seq"> {
  /** The body, as it is stored. */
  readonly text: string;
}

export class SqliteEventLog implements EventLog {
  readonly #db: Sqlite;
  readonly #clock: Clock;
  readonly #onFailure: (error: unknown) => void;
  readonly #listeners = { first: new Set<Listener>(), later: new Set<Listener>() };
  #head: number;
  #prunedThrough: number;
  /** Every event after `#ringStart`, oldest first. */
  #ring: LoggedEvent[] = [];
  #ringStart: number;
  /** Every row has its type in a column of its own, which an earlier version did not write. */
  #areTyped: boolean;

  constructor(db: Sqlite, clock: Clock, onFailure: (error: unknown) => void) {
    this.#db = db;
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#head = db.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0;
    this.#ringStart = this.#head;
    this.#prunedThrough = prunedThrough(db);
    this.#areTyped = areTyped(db);
  }

  head(): number {
    return this.#head;
  }

  prunedThrough(): number {
    return this.#prunedThrough;
  }

  async places({ after, limit }: Parameters<EventLog["places"]>[0]): Promise<readonly EventPlace[]> {
    const sql = "SELECT seq, at, session_id AS sessionId FROM events WHERE seq > ? ORDER BY seq LIMIT ?";
    return guardRead(this.#onFailure, () => this.#db.all<EventPlace>(sql, after, limit));
  }

  newestFrom(sessionId: string, newest: number): number {
    const sql = "SELECT seq FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?";
    return guardRead(this.#onFailure, () => this.#db.get<{ seq: number }>(sql, sessionId, newest)?.seq ?? 0);
  }

  async read(query: EventQuery): Promise<readonly LoggedEvent[]> {
    const { after, limit } = query;
    if (after >= this.#head || limit <= 0) return [];
    if (after < this.#ringStart) {
      return guardRead(this.#onFailure, () => selectAfter(this.#db, query, this.#areTyped).map(fromRow));
    }
    const isWanted = filterOf(query);
    const found: LoggedEvent[] = [];
    for (let index = firstAfter(this.#ring, after); index < this.#ring.length && found.length < limit; index += 1) {
      const event = this.#ring[index];
      if (event && isWanted(event)) found.push(event);
    }
    return found;
  }

  async latest(query: Parameters<EventLog["latest"]>[0]): Promise<LoggedEvent | undefined> {
    const { sessionId, types, fits = () => true, before: limit = Infinity } = query;
    const kinds = new Set(types);
    const recent = this.#ring.findLast(
      (event) => event.seq < limit && event.sessionId === sessionId && kinds.has(event.body.type) && fits(event.body),
    );
    if (recent) return recent;
    return guardRead(this.#onFailure, () => {
      for (let before = Math.min(this.#ringStart + 1, limit); ;) {
        const page = { before, limit: BACK_PAGE, sessionId, types };
        const rows = selectBefore(this.#db, page, this.#areTyped);
        for (const row of rows) {
          const event = fromRow(row);
          if (fits(event.body)) return event;
        }
        if (rows.length < BACK_PAGE) return undefined;
        before = rows.at(-1)?.seq ?? 0;
      }
    });
  }

  follow(listener: Listener, when: "first" | "later" = "later"): () => void {
    const own: Listener = (events) => listener(events);
    this.#listeners[when].add(own);
    return () => void this.#listeners[when].delete(own);
  }

  /** Everything but its number. */
  draft(events: readonly NewEvent[]): readonly Draft[] {
    const at = this.#clock.now();
    return events.map(({ sessionId, caller = null, via, body }) => ({
      at,
      sessionId,
      caller,
      ...(via === undefined ? {} : { via }),
      body,
      text: JSON.stringify(body),
    }));
  }

  /** Inside a transaction: the number that the next event will have. */
  next(): number {
    const row = this.#db.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
    return (row?.seq ?? 0) + 1;
  }

  /** Inside a transaction. */
  append(drafts: readonly Draft[]): LoggedEvent[] {
    const logged: LoggedEvent[] = [];
    for (const { rows, sql } of INSERTS) {
      while (drafts.length - logged.length >= rows) {
        const some = drafts.slice(logged.length, logged.length + rows);
        const { lastId } = this.#db.run(sql, ...some.flatMap(valuesOf));
        // Nobody else writes, so the numbers of one statement follow one another.
        for (const [index, { text: _, ...event }] of some.entries())
          logged.push(deepFreeze({ seq: lastId - rows + 1 + index, ...event }));
      }
    }
    return logged;
  }

  /** Inside a transaction. */
  stageRemoval(seqs: readonly number[]): void {
    this.#db.run("DELETE FROM events WHERE seq IN (SELECT value FROM json_each(?))", JSON.stringify(seqs));
    markPruned(this.#db, Math.max(prunedThrough(this.#db), ...seqs));
  }

  /** After the transaction. What is in memory is newer than anything that is removed, or goes with it. */
  publishRemoval(seqs: readonly number[]): void {
    this.#prunedThrough = Math.max(this.#prunedThrough, ...seqs);
    if (this.#prunedThrough <= this.#ringStart) return;
    const removed = new Set(seqs);
    this.#ring = this.#ring.filter(({ seq }) => !removed.has(seq));
  }

  /** After the transaction. */
  publish(events: readonly LoggedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    this.#head = last.seq;
    for (const event of events) this.#ring.push(event);
    if (this.#ring.length > 2 * RING_SIZE) {
      this.#ring = this.#ring.slice(-RING_SIZE);
      this.#ringStart = (this.#ring[0]?.seq ?? this.#head) - 1;
    }
    const batch = Object.freeze(events);
    for (const listeners of [this.#listeners.first, this.#listeners.later])
      for (const listener of listeners) {
        try {
          listener(batch);
        } catch (error) {
          this.#onFailure(error);
        }
      }
  }

  /** From now on the index is enough. */
  typed(): void {
    this.#areTyped = true;
  }
}

/** Inside a transaction: what is up to here is no longer all there. */
export function markPruned(db: Sqlite, through: number): void {
  db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('events-pruned-to', ?)", String(through));
}

function prunedThrough(db: Sqlite): number {
  return Number(db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'events-pruned-to'")?.value ?? 0);
}

function valuesOf({ at, sessionId, caller, via, body, text }: Draft): (string | number | null)[] {
  return [at, sessionId, body.type, caller, via ?? null, text];
}

function filterOf({ sessionIds, types, caller }: EventQuery): (event: LoggedEvent) => boolean {
  const sessions = sessionIds && new Set<string | null>(sessionIds);
  const kinds = types && new Set(types);
  return (event) =>
    (sessions === undefined || sessions.has(event.sessionId)) &&
    (kinds === undefined || kinds.has(event.body.type)) &&
    (caller === undefined || caller === event.caller);
}

function fromRow(row: EventRow): LoggedEvent {
  const body = parseColumn<EventBody>(row.body, "events.body");
  const { seq, at, session_id: sessionId, caller, via } = row;
  return deepFreeze({ seq, at, sessionId, caller, ...(via === null ? {} : { via }), body });
}

/** Index of the first event with seq > after; the ring is sorted. */
function firstAfter(events: readonly LoggedEvent[], after: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.seq ?? Infinity) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
