/**
 * One open database with everything that is held of it in memory. Making this
 * reads every session and every open message, so damage to them shows here.
 */
import type { Commit } from "./contract.ts";
import type { LoggedEvent } from "../session/event.ts";
import type { Message } from "../session/message.ts";
import type { Session } from "../session/session.ts";
import type { Clock } from "../platform/clock.ts";
import { type Draft, SqliteEventLog } from "./event-log.ts";
import { IdempotencyTable } from "./idempotency.ts";
import { SqliteMailbox } from "./mailbox.ts";
import { SqliteRecords } from "./records.ts";
import { SqliteRegistry } from "./registry.ts";
import type { Sqlite } from "./sqlite.ts";

/** What one change will look like once its transaction is durable. */
export interface Staged {
  readonly sessions: readonly Session[];
  readonly messages: readonly Message[];
  readonly drafts: readonly Draft[];
  /** The drafts, once they have their numbers. */
  events: readonly LoggedEvent[];
}

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

  /** Inside a transaction, in which `before` was staged already. */
  stage(commit: Commit, before: readonly Staged[]): Staged {
    if (commit.idempotency) this.idempotency.stage(commit.idempotency);
    const sessions: Session[] = [];
    const messages: Message[] = [];
    for (const change of commit.changes ?? []) {
      switch (change.kind) {
        case "session":
          this.registry.stage(change.session, [...before.flatMap((staged) => staged.sessions), ...sessions]);
          sessions.push(change.session);
          break;
        case "message":
          messages.push(this.mailbox.stage(change));
          break;
        case "record":
          this.records.stage(change);
      }
    }
    return { sessions, messages, drafts: this.log.draft(commit.events ?? []), events: [] };
  }

  /** At the end of a transaction that keeps all of these. Events of many commits are written with few statements. */
  complete(batch: readonly Staged[]): void {
    const logged = this.log.append(batch.flatMap(({ drafts }) => drafts));
    let next = 0;
    for (const staged of batch) staged.events = Object.freeze(logged.slice(next, (next += staged.drafts.length)));
  }

  /** After the transaction; followers are told last, so that they see the rows of what they hear. */
  publish(batch: readonly Staged[]): void {
    for (const { sessions, messages } of batch) {
      for (const session of sessions) this.registry.publish(session);
      for (const message of messages) this.mailbox.publish(message);
    }
    this.log.publish(batch.flatMap(({ events }) => events));
  }
}
