/**
 * The statements that read events. Each is answered by an index, in the order
 * in which it is wanted, so its cost follows from what is asked for and not
 * from how long the log is:
 *
 *   all                   the rows themselves, by `seq`
 *   of sessions           events_by_session (session_id, seq)
 *   of types              events_by_type (type), whose entries are in the order of `seq`
 *   of a session's types  events_by_session_type (session_id, type)
 *   of a caller           events_by_caller (caller)
 *
 * Several types are read one after another and put together.
 */
import type { Surface } from "../platform/surface.ts";
import type { CallerName } from "../session/caller.ts";
import type { EventType } from "../session/event.ts";
import type { EventQuery } from "./contract.ts";
import { TYPE_OF_BODY } from "./event-columns.ts";
import type { Sqlite } from "./sqlite.ts";

export interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly session_id: string | null;
  readonly caller: CallerName | null;
  readonly via: Surface | null;
  readonly body: string;
}

type Reader = Pick<Sqlite, "all">;

const ROWS = "SELECT seq, at, session_id, caller, via, body FROM events WHERE";

/** `areTyped`: every row has its type in the column. If not, the bodies are looked into: right, but slow. */
export function selectAfter(db: Reader, query: EventQuery, areTyped: boolean): EventRow[] {
  const { after, limit, sessionIds, types, caller } = query;
  const [session] = sessionIds ?? [];
  const isOne = session !== undefined && sessionIds?.length === 1;
  const conditions = [
    ...(types === undefined ? [] : [isOfType(areTyped)]),
    ...(sessionIds === undefined ? [] : [isOne ? "session_id = ?" : "session_id IN (SELECT value FROM json_each(?))"]),
    ...(caller === undefined ? [] : ["caller = ?"]),
    "seq > ? ORDER BY seq LIMIT ?",
  ];
  const sql = `${ROWS} ${conditions.join(" AND ")}`;
  const values = [
    ...(sessionIds === undefined ? [] : [isOne ? session : JSON.stringify(sessionIds)]),
    ...(caller === undefined ? [] : [caller]),
    after,
    limit,
  ];
  if (types === undefined) return db.all(sql, ...values);
  return ofEach(types, (type) => db.all<EventRow>(sql, type, ...values))
    .toSorted((one, other) => one.seq - other.seq)
    .slice(0, limit);
}

/** Newest first. */
export function selectBefore(
  db: Reader,
  query: {
    readonly before: number;
    readonly limit: number;
    readonly sessionId: string;
    readonly types: readonly EventType[];
  },
  areTyped: boolean,
): EventRow[] {
  const { before, limit, sessionId, types } = query;
  const sql = `${ROWS} ${isOfType(areTyped)} AND session_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`;
  return ofEach(types, (type) => db.all<EventRow>(sql, type, sessionId, before, limit))
    .toSorted((one, other) => other.seq - one.seq)
    .slice(0, limit);
}

function ofEach(types: readonly EventType[], rowsOf: (type: EventType) => EventRow[]): EventRow[] {
  return [...new Set(types)].flatMap(rowsOf);
}

function isOfType(areTyped: boolean): string {
  return areTyped ? "type = ?" : `COALESCE(type, ${TYPE_OF_BODY}) = ?`;
}
