/**
 * Messages: open ones (admitted or leased) in memory and in order, settled ones
 * in the database only. A settled message never becomes open again; only an
 * unknown outcome may still become known.
 */
import type { Moment } from "../platform/clock.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { CallerName } from "../session/caller.ts";
import type { Message, MessageRoute, MessageState } from "../session/message.ts";
import type { Change, NewMessage, Settlement } from "./change.ts";
import type { Mailbox } from "./contract.ts";
import { deepFreeze } from "./freeze.ts";
import { guardRead, parseColumn, type Sqlite } from "./sqlite.ts";

export interface MessageRow {
  readonly id: string;
  readonly session_id: string;
  readonly position: number;
  readonly text: string;
  readonly submit: number;
  readonly how: MessageRoute;
  readonly caller: CallerName | null;
  readonly intended_turn: number | null;
  readonly answers: string | null;
  readonly state: MessageState;
  readonly admitted_at: number;
  readonly settled_at: number | null;
  /** Null where an earlier version wrote it. */
  readonly settled_boot: string | null;
  readonly settled_up_ms: number | null;
  readonly detail: string | null;
}

export class SqliteMailbox implements Mailbox {
  readonly #db: Sqlite;
  readonly #onFailure: (error: unknown) => void;
  readonly #open = new Map<string, Message>();
  /** The same messages by session, in order. */
  readonly #queues = new Map<string, Map<string, Message>>();

  constructor(db: Sqlite, onFailure: (error: unknown) => void) {
    this.#db = db;
    this.#onFailure = onFailure;
    const sql = "SELECT * FROM messages WHERE state IN ('admitted', 'leased') ORDER BY session_id, position";
    for (const row of db.all<MessageRow>(sql)) this.publish(fromRow(row));
  }

  get(messageId: string): Message | undefined {
    const open = this.#open.get(messageId);
    if (open) return open;
    return guardRead(this.#onFailure, () => {
      const row = this.#db.get<MessageRow>("SELECT * FROM messages WHERE id = ?", messageId);
      return row && fromRow(row);
    });
  }

  open(sessionId: string): readonly Message[] {
    return [...(this.#queues.get(sessionId)?.values() ?? [])];
  }

  count(sessionId: string): number {
    const sql = "SELECT COUNT(*) AS count FROM messages WHERE session_id = ?";
    return guardRead(this.#onFailure, () => this.#db.get<{ count: number }>(sql, sessionId)?.count ?? 0);
  }

  typed(sessionId: string, most: number): readonly Message[] {
    const sql = `SELECT * FROM messages WHERE session_id = ? AND state NOT IN ('admitted', 'refused')
      ORDER BY position DESC LIMIT ?`;
    return guardRead(this.#onFailure, () => this.#db.all<MessageRow>(sql, sessionId, most).map(fromRow));
  }

  /** Inside a transaction. */
  stage(change: Extract<Change, { kind: "message" }>): Message {
    return "admit" in change ? this.#admit(change.admit) : this.#settle(change.settle);
  }

  /** Inside a transaction: the oldest that are settled. */
  stageRemoval(sessionId: string, most: number): void {
    const sql = `DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE session_id = ?
      AND state NOT IN ('admitted', 'leased') ORDER BY position LIMIT ?)`;
    this.#db.run(sql, sessionId, most);
  }

  /** Takes the next position of its session. */
  #admit(message: NewMessage): Message {
    const sql = `INSERT INTO messages (id, session_id, position, text, submit, how, caller, intended_turn, answers, state, admitted_at, detail)
      SELECT ?, ?, COALESCE(MAX(position), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM messages WHERE session_id = ?
      RETURNING *`;
    const { id, sessionId, text, submit, how, caller, intendedTurn, answers, state, admittedAt, detail } = message;
    const row = this.#db.get<MessageRow>(
      sql,
      id,
      sessionId,
      JSON.stringify(text),
      submit ? 1 : 0,
      how,
      caller,
      intendedTurn,
      answers,
      state,
      admittedAt,
      encodeDetail(detail),
      sessionId,
    );
    if (!row)
      throw new ReeveError({
        code: "message-not-stored",
        kind: "internal",
        message: `Message ${id} was not stored; try again.`,
      });
    return fromRow(row);
  }

  /** A lease is not an outcome, so it leaves `settled` alone. */
  #settle({ messageId, state, detail, moment }: Settlement): Message {
    const sql = `UPDATE messages SET state = ?, settled_at = ?, settled_boot = ?, settled_up_ms = ?, detail = ?
      WHERE id = ? AND (state IN ('admitted', 'leased') OR (state = 'unknown' AND ? IN ('delivered', 'refused')))
      RETURNING *`;
    const settled = isOpen(state) ? [null, null, null] : [moment.at, moment.boot, moment.upMs];
    const row = this.#db.get<MessageRow>(sql, state, ...settled, encodeDetail(detail), messageId, state);
    if (!row) {
      const message = `Message ${messageId} cannot become ${state}: it is unknown or its outcome is final; read it again.`;
      throw new ReeveError({ code: "message-not-open", kind: "internal", message, details: { messageId, state } });
    }
    return fromRow(row);
  }

  /** After the transaction. Positions only grow and a settled message stays settled, so a map keeps the order. */
  publish(message: Message): void {
    const queue = this.#queues.get(message.sessionId) ?? new Map<string, Message>();
    if (isOpen(message.state)) {
      this.#open.set(message.id, message);
      this.#queues.set(message.sessionId, queue.set(message.id, message));
      return;
    }
    this.#open.delete(message.id);
    queue.delete(message.id);
    if (queue.size === 0) this.#queues.delete(message.sessionId);
  }
}

function isOpen(state: MessageState): boolean {
  return state === "admitted" || state === "leased";
}

function encodeDetail(detail: string | null): string | null {
  return detail === null ? null : JSON.stringify(detail);
}

function settledOf({ settled_at: at, settled_boot: boot, settled_up_ms: upMs }: MessageRow): Moment | null {
  // No boot has this name: then only the wall clock tells how long ago it was.
  return at === null ? null : { at, boot: boot ?? "", upMs: upMs ?? 0 };
}

function fromRow(row: MessageRow): Message {
  return deepFreeze({
    id: row.id,
    sessionId: row.session_id,
    position: row.position,
    text: parseColumn<string>(row.text, "messages.text"),
    submit: row.submit === 1,
    how: row.how,
    caller: row.caller,
    intendedTurn: row.intended_turn,
    answers: row.answers,
    state: row.state,
    admittedAt: row.admitted_at,
    settled: settledOf(row),
    detail: row.detail === null ? null : parseColumn<string>(row.detail, "messages.detail"),
  });
}
