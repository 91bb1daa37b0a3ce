/**
 * The log: appends inside somebody's transaction, and tells followers once that
 * transaction is durable. The newest events stay in memory for those who are
 * nearly up to date; everything older is read from the database. It must never
 * show an event that is not committed.
 */
import type { Clock } from "../platform/clock.ts";
import type { CallerName } from "../session/caller.ts";
import type { EventBody, LoggedEvent } from "../session/event.ts";
import type { EventLog, NewEvent } from "./contract.ts";
import { deepFreeze } from "./freeze.ts";
import { guardRead, parseColumn, type Sqlite } from "./sqlite.ts";

/** A follower that is this far behind is served from memory. */
const RING_SIZE = 1_000;

/** Looking back usually ends within a turn or two. */
const BACK_PAGE = 200;

interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly session_id: string | null;
  readonly caller: CallerName | null;
  readonly body: string;
}

export class SqliteEventLog implements EventLog {
  readonly #db: Sqlite;
  readonly #clock: Clock;
  readonly #onFailure: (error: unknown) => void;
  readonly #listeners = new Set<(events: readonly LoggedEvent[]) => void>();
  #head: number;
  /** Every event after `#ringStart`, oldest first. */
  #ring: LoggedEvent[] = [];
  #ringStart: number;

  constructor(db: Sqlite, clock: Clock, onFailure: (error: unknown) => void) {
    this.#db = db;
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#head = db.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0;
    this.#ringStart = this.#head;
  }

  head(): number {
    return this.#head;
  }

  read(query: Parameters<EventLog["read"]>[0]): readonly LoggedEvent[] {
    const { after, limit, sessionIds } = query;
    if (after >= this.#head || limit <= 0) return [];
    if (after < this.#ringStart) return this.#readRows(after, limit, sessionIds);
    const wanted = sessionIds && new Set<string | null>(sessionIds);
    const found: LoggedEvent[] = [];
    for (let index = firstAfter(this.#ring, after); index < this.#ring.length && found.length < limit; index += 1) {
      const event = this.#ring[index];
      if (event && (!wanted || wanted.has(event.sessionId))) found.push(event);
    }
    return found;
  }

  latest(sessionId: string, fits: (body: EventBody) => boolean): LoggedEvent | undefined {
    const recent = this.#ring.findLast((event) => event.sessionId === sessionId && fits(event.body));
    if (recent) return recent;
    for (let before = this.#ringStart + 1; ;) {
      const rows = guardRead(this.#onFailure, () =>
        this.#db
          .all<EventRow>(
            "SELECT seq, at, session_id, caller, body FROM events WHERE session_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
            sessionId,
            before,
            BACK_PAGE,
          )
          .map(fromRow),
      );
      const found = rows.find((event) => fits(event.body));
      if (found || rows.length < BACK_PAGE) return found;
      before = rows.at(-1)?.seq ?? 0;
    }
  }

  follow(listener: (events: readonly LoggedEvent[]) => void): () => void {
    const own = (events: readonly LoggedEvent[]): void => listener(events);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Inside a transaction. */
  append(events: readonly NewEvent[]): readonly LoggedEvent[] {
    const logged = events.map(({ sessionId, caller = null, body }) => {
      const at = this.#clock.now();
      const { lastId } = this.#db.run(
        "INSERT INTO events (at, session_id, caller, body) VALUES (?, ?, ?, ?)",
        at,
        sessionId,
        caller,
        JSON.stringify(body),
      );
      return deepFreeze({ seq: lastId, at, sessionId, caller, body });
    });
    return Object.freeze(logged);
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
    for (const listener of this.#listeners) {
      try {
        listener(batch);
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }

  #readRows(after: number, limit: number, sessionIds: readonly string[] | undefined): LoggedEvent[] {
    return guardRead(this.#onFailure, () => this.#selectRows(after, limit, sessionIds).map(fromRow));
  }

  #selectRows(after: number, limit: number, sessionIds: readonly string[] | undefined): EventRow[] {
    const columns = "SELECT seq, at, session_id, caller, body FROM events";
    if (!sessionIds) return this.#db.all(`${columns} WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit);
    if (sessionIds.length === 1) {
      return this.#db.all(
        `${columns} WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
        sessionIds[0] ?? null,
        after,
        limit,
      );
    }
    const among = "session_id IN (SELECT value FROM json_each(?))";
    return this.#db.all(
      `${columns} WHERE ${among} AND seq > ? ORDER BY seq LIMIT ?`,
      JSON.stringify(sessionIds),
      after,
      limit,
    );
  }
}

function fromRow(row: EventRow): LoggedEvent {
  const body = parseColumn<EventBody>(row.body, "events.body");
  return deepFreeze({ seq: row.seq, at: row.at, sessionId: row.session_id, caller: row.caller, body });
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
