/**
 * Reads what can still be read of a database that was set aside: sessions, messages, events, records of other kinds,
 * keys and the instance id. Best effort and read-only. A table is read from the front until it breaks, then from the
 * back; rows that do not parse are left behind.
 */
import { lstatSync } from "node:fs";
import type { IdempotencyRecord } from "./contract.ts";
import type { EventRow } from "./event-rows.ts";
import type { MessageRow } from "./mailbox.ts";
import type { RecordRow } from "./records.ts";
import { completed, isSession } from "../session/session-record.ts";
import type { Session } from "../session/session.ts";
import { Sqlite } from "./sqlite.ts";

/** Without `caller` before schema 3, without `via` before schema 9. */
export type SalvagedEvent = Omit<EventRow, "caller" | "via"> & Partial<Pick<EventRow, "caller" | "via">>;

type Added = "how" | "caller" | "intended_turn" | "answers";
export type SalvagedMessage = Omit<MessageRow, Added> & Partial<Pick<MessageRow, Added>>;

export interface Salvage {
  readonly sessions: readonly Session[];
  /** Without `how` where schema 1 wrote them, without `caller` before schema 4, without what they are meant for before 7. */
  readonly messages: readonly SalvagedMessage[];
  readonly events: readonly SalvagedEvent[];
  readonly records: readonly RecordRow[];
  readonly idempotency: readonly IdempotencyRecord[];
  readonly instance: string | undefined;
  /** The highest sequence number it shows any sign of. */
  readonly seq: number;
  /** Up to where it had removed events. */
  readonly prunedThrough: number;
}

export const NOTHING_SALVAGED: Salvage = {
  sessions: [],
  messages: [],
  events: [],
  records: [],
  idempotency: [],
  instance: undefined,
  seq: 0,
  prunedThrough: 0,
};

export function salvage(quarantinedPath: string): Salvage {
  let db: Sqlite;
  // A pipe would be waited for.
  if (lstatSync(quarantinedPath, { throwIfNoEntry: false })?.isFile() !== true) return NOTHING_SALVAGED;
  try {
    db = Sqlite.openReadOnly(quarantinedPath);
  } catch {
    return NOTHING_SALVAGED;
  }
  try {
    const events = rows<SalvagedEvent>(db, "events", "seq")
      .filter((row) => isEventBody(row.body))
      .toSorted((one, other) => one.seq - other.seq);
    const counter =
      rows<{ name: string; seq: number }>(db, "sqlite_sequence", "rowid").find((row) => row.name === "events")?.seq ??
      0;
    const meta = new Map(rows<{ key: string; value: string }>(db, "meta", "key").map(({ key, value }) => [key, value]));
    return {
      sessions: rows<{ body: string }>(db, "sessions", "ordinal")
        .map((row) => completed(parsed(row.body)))
        .filter(isSession),
      messages: rows<SalvagedMessage>(db, "messages", "rowid")
        .filter((row) => typeof parsed(row.text) === "string")
        .toSorted((one, other) => one.position - other.position),
      events,
      records: rows<RecordRow>(db, "records", "ordinal").filter((row) => parsed(row.body) !== undefined),
      idempotency: rows<IdempotencyRecord>(db, "idempotency", "key"),
      instance: meta.get("instance"),
      seq: Math.max(counter, events.at(-1)?.seq ?? 0),
      prunedThrough: Number(meta.get("events-pruned-to") ?? 0) || 0,
    };
  } finally {
    db.close();
  }
}

function rows<Row>(db: Sqlite, table: string, key: string): Row[] {
  const front: Row[] = [];
  try {
    for (const row of db.iterate<Row>(`SELECT * FROM ${table} ORDER BY ${key}`)) front.push(row);
    return front;
  } catch {
    // What is behind the damage may be reached from the other end.
  }
  const seen = new Set(front.map((row) => JSON.stringify(row)));
  try {
    for (const row of db.iterate<Row>(`SELECT * FROM ${table} ORDER BY ${key} DESC`)) {
      if (seen.has(JSON.stringify(row))) break;
      front.push(row);
    }
  } catch {
    // The damage from its other side.
  }
  return front;
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === "string" ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    return undefined;
  }
}

function isEventBody(text: unknown): boolean {
  const body = parsed(text);
  return typeof body === "object" && body !== null && "type" in body && typeof body.type === "string";
}
