/**
 * One open database with everything that is held of it in memory. Making this
 * reads every session and every open message, so damage to them shows here.
 */
import type { Clock } from "../platform/clock.ts";
import { SqliteEventLog } from "./event-log.ts";
import { IdempotencyTable } from "./idempotency.ts";
import { SqliteMailbox } from "./mailbox.ts";
import { SqliteRecords } from "./records.ts";
import { SqliteRegistry } from "./registry.ts";
import type { Sqlite } from "./sqlite.ts";

export class Tables {
  readonly db: Sqlite;
  readonly log: SqliteEventLog;
  readonly registry: SqliteRegistry;
  readonly mailbox: SqliteMailbox;
  readonly records: SqliteRecords;
  readonly idempotency: IdempotencyTable;

  constructor(db: Sqlite, clock: Clock, onFailure: (error: unknown) => void) {
    this.db = db;
    this.log = new SqliteEventLog(db, clock, onFailure);
    this.registry = new SqliteRegistry(db, onFailure);
    this.mailbox = new SqliteMailbox(db, onFailure);
    this.records = new SqliteRecords(db, onFailure);
    this.idempotency = new IdempotencyTable(db, clock);
  }
}
