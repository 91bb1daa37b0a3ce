/**
 * Records of every kind that needs no table of its own (session/record-kind.ts).
 * They are read from the database when they are asked for; nothing is held in
 * memory. This file must not know any kind.
 */
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { Kept, RecordChange, RecordKind } from "../session/record-kind.ts";
import type { Placed, Records } from "./contract.ts";
import { deepFreeze } from "./freeze.ts";
import { guardRead, parseColumn, type Sqlite } from "./sqlite.ts";

/** A mail may have 64 KB. */
const SCANNED_AT_ONCE = 200;

export interface RecordRow {
  readonly kind: string;
  readonly id: string;
  readonly group_key: string | null;
  readonly revision: number;
  readonly body: string;
}

export class SqliteRecords {
  readonly #db: Sqlite;
  readonly #onFailure: (error: unknown) => void;

  constructor(db: Sqlite, onFailure: (error: unknown) => void) {
    this.#db = db;
    this.#onFailure = onFailure;
  }

  of<Stored extends Kept>(kind: RecordKind<Stored>): Records<Stored> {
    const read = (condition: string, ...values: readonly string[]): Stored[] =>
      guardRead(this.#onFailure, () =>
        this.#db
          .all<RecordRow>(`SELECT * FROM records WHERE kind = ? ${condition} ORDER BY ordinal`, kind.name, ...values)
          .map((row) => fromRow(kind, row)),
      );
    return {
      get: async (id) => read("AND id = ?", id)[0],
      list: async (group) => (group === undefined ? read("") : read("AND group_key = ?", group)),
      groups: async (prefix) => this.#groups(kind.name, prefix),
      page: async ({ group, before = Number.MAX_SAFE_INTEGER, limit }) =>
        guardRead(this.#onFailure, () =>
          this.#db
            .all<RecordRow & { readonly ordinal: number }>(
              "SELECT * FROM records WHERE kind = ? AND group_key = ? AND ordinal < ? ORDER BY ordinal DESC LIMIT ?",
              kind.name,
              group,
              before,
              limit,
            )
            .map((row) => ({ place: row.ordinal, record: fromRow(kind, row) })),
        ),
      scan: async (after) => this.#scan(kind, after),
      count: async () =>
        guardRead(
          this.#onFailure,
          () =>
            this.#db.get<{ count: number }>("SELECT COUNT(*) AS count FROM records WHERE kind = ?", kind.name)?.count ??
            0,
        ),
    };
  }

  /** The rows of other kinds between them are passed over: so many of any kind are looked at for one answer. */
  #scan<Stored extends Kept>(
    kind: RecordKind<Stored>,
    after: number,
  ): { readonly found: readonly Placed<Stored>[]; readonly next: number | null } {
    return guardRead(this.#onFailure, () => {
      const window = "SELECT ordinal FROM records WHERE ordinal > ? ORDER BY ordinal LIMIT ?";
      const places = this.#db.all<{ ordinal: number }>(window, after, SCANNED_AT_ONCE);
      const next = places.length < SCANNED_AT_ONCE ? null : (places.at(-1)?.ordinal ?? null);
      const last = places.at(-1)?.ordinal ?? after;
      const sql = "SELECT * FROM records WHERE ordinal > ? AND ordinal <= ? AND kind = ? ORDER BY ordinal";
      const rows = this.#db.all<RecordRow & { readonly ordinal: number }>(sql, after, last, kind.name);
      return { found: rows.map((row) => ({ place: row.ordinal, record: fromRow(kind, row) })), next };
    });
  }

  /** One step of the index for each group, however many records are in it. */
  #groups(kind: string, prefix: string): readonly string[] {
    const sql = "SELECT MIN(group_key) AS name FROM records WHERE kind = ? AND group_key > ?";
    const next = (after: string): string | null =>
      this.#db.get<{ name: string | null }>(sql, kind, after)?.name ?? null;
    return guardRead(this.#onFailure, () => {
      const found: string[] = [];
      for (let name = next(prefix); name?.startsWith(prefix) === true; name = next(name)) found.push(name);
      return found;
    });
  }

  /** Inside a transaction: compare and set. */
  stage(change: RecordChange): void {
    if (this.#write(change) === 1) return;
    const { name, id, revision, record } = change;
    const message =
      record === null
        ? `The ${name} ${id} cannot be removed: its stored revision is not ${revision}; read it again and repeat the change.`
        : `The ${name} ${id} cannot become revision ${revision}: the stored one is not ${revision - 1}; read it again and repeat the change.`;
    throw new ReeveError({
      code: "revision-conflict",
      kind: "internal",
      message,
      details: { kind: name, id, revision },
    });
  }

  /** Inside a transaction: a row that was found elsewhere, where there is none. */
  restore({ kind, id, group_key: group, revision, body }: RecordRow): void {
    const sql = "INSERT OR IGNORE INTO records (kind, id, group_key, revision, body) VALUES (?, ?, ?, ?, ?)";
    this.#db.run(sql, kind, id, group, revision, body);
  }

  /** How many rows that changed. */
  #write({ name, id, group, revision, record }: RecordChange): number {
    if (record === null) {
      const sql = "DELETE FROM records WHERE kind = ? AND id = ? AND revision = ?";
      return this.#db.run(sql, name, id, revision).changes;
    }
    const body = JSON.stringify(record);
    if (revision === 1) {
      const sql = `INSERT INTO records (kind, id, group_key, revision, body) VALUES (?, ?, ?, 1, ?)
        ON CONFLICT (kind, id) DO NOTHING`;
      return this.#db.run(sql, name, id, group, body).changes;
    }
    const sql = "UPDATE records SET group_key = ?, revision = ?, body = ? WHERE kind = ? AND id = ? AND revision = ?";
    return this.#db.run(sql, group, revision, body, name, id, revision - 1).changes;
  }
}

function fromRow<Stored extends Kept>(kind: RecordKind<Stored>, { id, body }: RecordRow): Stored {
  const value = parseColumn<unknown>(body, "records.body");
  try {
    return deepFreeze(kind.parse(value));
  } catch (error) {
    const message = `The ${kind.name} ${id} in the database is not one that this version of Reeve can read (${messageOf(error)}).`;
    throw new ReeveError({ code: "record-unreadable", kind: "internal", message, details: { kind: kind.name, id } });
  }
}
