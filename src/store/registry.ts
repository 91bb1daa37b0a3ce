/**
 * The current rows of all sessions, held in memory. A changed row becomes
 * visible only when its transaction is durable.
 *
 * Parsing a thousand rows takes 15 ms, so at the start only their ids and names
 * are read, and SQLite vouches that each body parses; a body is fetched when it
 * is first asked for, and from then on no read touches the database.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { Registry } from "./contract.ts";
import { deepFreeze } from "./freeze.ts";
import { completed } from "../session/session-record.ts";
import { guardRead, MalformedRow, parseColumn, type Sqlite } from "./sqlite.ts";

export class SqliteRegistry implements Registry {
  readonly #db: Sqlite;
  readonly #onFailure: (error: unknown) => void;
  /** In order of creation; of a row not fetched yet, the name. */
  readonly #rows = new Map<string, Session | string>();
  readonly #names = new Map<string, Set<string>>();
  #all: readonly Session[] | undefined;
  /** In order of creation; undefined until somebody asks, or when an ended one came back. */
  #living: Map<string, Session> | undefined;
  #livingList: readonly Session[] | undefined;
  /** By who started them; undefined until somebody asks. */
  #children: Map<string, Set<string>> | undefined;

  constructor(db: Sqlite, onFailure: (error: unknown) => void) {
    this.#db = db;
    this.#onFailure = onFailure;
    const sql = "SELECT id, name, json_valid(body) AS valid FROM sessions ORDER BY ordinal";
    for (const { id, name, valid } of db.all<{ id: string; name: string; valid: number }>(sql)) {
      if (valid !== 1) throw new MalformedRow(`sessions.body of ${id} is not JSON`);
      this.#rows.set(id, name);
      this.#addName(name, id);
    }
  }

  /** In order of creation, without fetching anything. */
  ids(): Iterable<string> {
    return this.#rows.keys();
  }

  get(id: string): Session | undefined {
    const row = this.#rows.get(id);
    return typeof row === "string" ? this.#fetch(id) : row;
  }

  all(): readonly Session[] {
    this.#all ??= Object.freeze(this.#fetchAll());
    return this.#all;
  }

  living(): readonly Session[] {
    this.#living ??= new Map(
      this.all()
        .filter((session) => !isEnded(session))
        .map((session) => [session.id, session]),
    );
    this.#livingList ??= Object.freeze([...this.#living.values()]);
    return this.#livingList;
  }

  childrenOf(parentId: string): readonly Session[] {
    if (this.#children === undefined) {
      this.#children = new Map();
      for (const session of this.all()) this.#addChild(this.#children, session);
    }
    return this.#existing(this.#children.get(parentId) ?? []);
  }

  byName(name: string): readonly Session[] {
    return this.#existing(this.#names.get(name) ?? []);
  }

  /** Inside a transaction, in which `before` was staged already: compare and set. */
  stage(session: Session, before: readonly Session[]): void {
    const { id, revision } = session;
    const { name } = session.identity;
    this.#requireFreeName(session, before);
    const body = JSON.stringify(session);
    const { changes } =
      revision === 1
        ? this.#db.run(
            "INSERT INTO sessions (id, name, revision, body) VALUES (?, ?, 1, ?) ON CONFLICT (id) DO NOTHING",
            id,
            name,
            body,
          )
        : this.#db.run(
            "UPDATE sessions SET name = ?, revision = ?, body = ? WHERE id = ? AND revision = ?",
            name,
            revision,
            body,
            id,
            revision - 1,
          );
    if (changes !== 1) throw revisionConflict(session);
  }

  /** Inside a transaction: takes a row found elsewhere if it is newer than the stored one; says whether it did. */
  restore(session: Session): boolean {
    const sql = `INSERT INTO sessions (id, name, revision, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, revision = excluded.revision, body = excluded.body
      WHERE excluded.revision > sessions.revision`;
    return (
      this.#db.run(sql, session.id, session.identity.name, session.revision, JSON.stringify(session)).changes === 1
    );
  }

  /** Inside a transaction: with its messages, of which none is open. */
  stageRemoval(session: Session): void {
    const { id, revision } = session;
    if (this.#db.get("SELECT 1 FROM messages WHERE session_id = ? AND state IN ('admitted', 'leased')", id))
      throw stillWrittenTo(id);
    this.#db.run("DELETE FROM messages WHERE session_id = ?", id);
    const { changes } = this.#db.run("DELETE FROM sessions WHERE id = ? AND revision = ?", id, revision);
    if (changes !== 1) throw revisionConflict({ ...session, revision: revision + 1 });
  }

  /** After the transaction. */
  publishRemoval({ id, identity: { name, parentId } }: Session): void {
    this.#rows.delete(id);
    this.#all = undefined;
    if (this.#living?.delete(id) === true) this.#livingList = undefined;
    this.#removeName(name, id);
    const siblings = parentId === null ? undefined : this.#children?.get(parentId);
    siblings?.delete(id);
    if (parentId !== null && siblings?.size === 0) this.#children?.delete(parentId);
  }

  /** After the transaction. */
  publish(session: Session): void {
    const before = this.#rows.get(session.id);
    this.#publishLiving(session, before);
    if (this.#children !== undefined) this.#addChild(this.#children, session);
    const nameBefore = typeof before === "string" ? before : before?.identity.name;
    this.#rows.set(session.id, deepFreeze(session));
    this.#all = undefined;
    if (nameBefore !== undefined && nameBefore !== session.identity.name) this.#removeName(nameBefore, session.id);
    this.#addName(session.identity.name, session.id);
  }

  /** Of the sessions that have not ended, each has a name of its own: a new or revived one may not take another's. */
  #requireFreeName(session: Session, before: readonly Session[]): void {
    if (isEnded(session)) return;
    const { id } = session;
    const { name } = session.identity;
    const earlier = before.findLast((other) => other.id === id) ?? this.get(id);
    if (earlier !== undefined && earlier.identity.name === name && !isEnded(earlier)) return;
    // An id comes before a name wherever a session is looked up.
    if (name !== id && (this.#rows.has(name) || before.some((other) => other.id === name))) throw nameTaken(name, name);
    const latest = new Map([...this.byName(name), ...before].map((other) => [other.id, other]));
    const holder = [...latest.values()].find(
      (other) => other.identity.name === name && other.id !== id && !isEnded(other),
    );
    if (holder !== undefined) throw nameTaken(name, holder.id);
  }

  #existing(ids: Iterable<string>): Session[] {
    return [...ids].flatMap((id) => this.get(id) ?? []);
  }

  /** After a start nothing has been read yet: one statement for all instead of one each. */
  #fetchAll(): Session[] {
    const unread = [...this.#rows.values()].filter((row) => typeof row === "string").length;
    if (unread > this.#rows.size / 2) guardRead(this.#onFailure, () => this.#readUnread());
    return this.#existing(this.#rows.keys());
  }

  #readUnread(): void {
    for (const { id, body } of this.#db.all<{ id: string; body: string }>("SELECT id, body FROM sessions")) {
      if (typeof this.#rows.get(id) !== "string") continue;
      this.#rows.set(id, revive(body));
    }
  }

  #fetch(id: string): Session {
    const session = guardRead(this.#onFailure, () => {
      const row = this.#db.get<{ body: string }>("SELECT body FROM sessions WHERE id = ?", id);
      return revive(row?.body ?? "");
    });
    this.#rows.set(id, session);
    return session;
  }

  /** One that ended is put in its old place again when it comes back, which only a fresh look at all of them knows. */
  #publishLiving(session: Session, before: Session | string | undefined): void {
    if (this.#living === undefined) return;
    const isNew = before === undefined;
    if (isEnded(session)) {
      if (!this.#living.delete(session.id)) return;
    } else if (isNew || this.#living.has(session.id)) this.#living.set(session.id, session);
    else this.#living = undefined;
    this.#livingList = undefined;
  }

  #addChild(children: Map<string, Set<string>>, { id, identity: { parentId } }: Session): void {
    if (parentId === null) return;
    const siblings = children.get(parentId);
    if (siblings) siblings.add(id);
    else children.set(parentId, new Set([id]));
  }

  #addName(name: string, id: string): void {
    const ids = this.#names.get(name);
    if (ids) ids.add(id);
    else this.#names.set(name, new Set([id]));
  }

  #removeName(name: string, id: string): void {
    const ids = this.#names.get(name);
    ids?.delete(id);
    if (ids?.size === 0) this.#names.delete(name);
  }
}

function revive(body: string): Session {
  return deepFreeze(completed(parseColumn<Session>(body, "sessions.body")) as Session);
}

function revisionConflict({ id, revision }: Session): ReeveError {
  const message = `Session ${id} cannot become revision ${revision}: the stored one is not ${revision - 1}; read it again and repeat the change.`;
  return new ReeveError({ code: "revision-conflict", kind: "internal", message, details: { id, revision } });
}

function stillWrittenTo(id: string): ReeveError {
  const message = `Session ${id} cannot be removed: a message still waits for it.`;
  return new ReeveError({ code: "message-open", kind: "internal", message, details: { id } });
}

function nameTaken(name: string, holder: string): ReeveError {
  const message = `There is already a session named ${name} (${holder}); end it first, or choose another name.`;
  return new ReeveError({ code: "name-taken", kind: "conflict", message, details: { session_id: holder } });
}
