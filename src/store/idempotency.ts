/**
 * Remembers which idempotency key has had which answer, for a day: long enough
 * for any retry of a client. Older rows are deleted a few at a time with other
 * work.
 */
import type { Clock } from "../platform/clock.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { IdempotencyRecord } from "./contract.ts";
import type { Sqlite } from "./sqlite.ts";

const LIFETIME_MS = 24 * 60 * 60 * 1_000;
/** Each new key drops this many expired ones: more than come in, few enough not to be felt. */
const DROPPED_PER_KEY = 4;

export class IdempotencyTable {
  readonly #db: Sqlite;
  readonly #clock: Clock;

  constructor(db: Sqlite, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  get(key: string): IdempotencyRecord | undefined {
    const row = this.#db.get<IdempotencyRecord>(
      "SELECT key, operation, fingerprint, subject, at FROM idempotency WHERE key = ?",
      key,
    );
    return row && row.at > this.#clock.now() - LIFETIME_MS ? Object.freeze({ ...row }) : undefined;
  }

  /** Inside a transaction: a key that still counts is not given a second answer. */
  stage({ key, operation, fingerprint, subject, at }: IdempotencyRecord): void {
    const expired = this.#clock.now() - LIFETIME_MS;
    const drop = "DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE at <= ? ORDER BY at LIMIT ?)";
    this.#db.run(drop, expired, DROPPED_PER_KEY);
    const sql = `INSERT INTO idempotency (key, operation, fingerprint, subject, at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET operation = excluded.operation, fingerprint = excluded.fingerprint,
        subject = excluded.subject, at = excluded.at WHERE idempotency.at <= ?`;
    if (this.#db.run(sql, key, operation, fingerprint, subject, at, expired).changes === 1) return;
    const message =
      "This idempotency key has already been used; repeat the same request to get its answer, or choose a new key.";
    throw new ReeveError({ code: "idempotency-key-used", kind: "conflict", message, details: { key } });
  }
}
