/**
 * The schema, as the scripts that made it. A script that was released is never
 * edited: the next change is a new one at the end. Each runs in one transaction
 * together with its number in `PRAGMA user_version`, so a kill leaves the old
 * schema or the new.
 *
 *   events       the log; AUTOINCREMENT so that no number is ever used twice.
 *                `body` is the EventBody as JSON, from which `type` is
 *                repeated (null: not yet); `caller` is whose wish it comes
 *                from: operator, system or session:<id>; `via` is how that
 *                caller came to Reeve (platform/surface.ts; null: not known).
 *   sessions     one row per session; `ordinal` is the order of creation,
 *                `body` the whole Session as JSON, from which `name` and
 *                `revision` are repeated. Before schema 8 a body was flat; it
 *                stays so until its session changes.
 *   messages     one row per message; `caller` is who sent it, `intended_turn`
 *                and `answers` what it is meant for; `text` and `detail` are
 *                JSON strings, because a bare column would lose unpaired
 *                surrogates.
 *   records      one row per record of every other kind; `ordinal` is the order
 *                of creation, `body` the whole record as JSON, from which `id`
 *                and `revision` are repeated.
 *   idempotency  which key has had which answer; rows older than a day go.
 *   meta         `instance`: this home's id; `untyped-to`: see event-columns.ts;
 *                `events-pruned-to`: up to where events were removed.
 */
import { failpoint } from "../platform/failpoint.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Sqlite } from "./sqlite.ts";

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    session_id TEXT,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_session ON events (session_id, seq);

  CREATE TABLE sessions (
    ordinal INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision > 0),
    body TEXT NOT NULL
  ) STRICT;

  CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    submit INTEGER NOT NULL CHECK (submit IN (0, 1)),
    state TEXT NOT NULL CHECK (state IN ('admitted', 'leased', 'delivered', 'refused', 'unknown')),
    admitted_at INTEGER NOT NULL,
    settled_at INTEGER,
    detail TEXT,
    UNIQUE (session_id, position)
  ) STRICT;
  CREATE INDEX messages_open ON messages (session_id, position) WHERE state IN ('admitted', 'leased');

  CREATE TABLE idempotency (
    key TEXT PRIMARY KEY,
    operation TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    subject TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_by_age ON idempotency (at);

  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE messages ADD COLUMN how TEXT NOT NULL DEFAULT 'queue' CHECK (how IN ('queue', 'steer', 'interrupt'));
  `,
  `
  ALTER TABLE events ADD COLUMN caller TEXT;
  `,
  `
  ALTER TABLE messages ADD COLUMN caller TEXT;
  `,
  `
  ALTER TABLE events ADD COLUMN type TEXT;
  CREATE INDEX events_by_type ON events (type) WHERE type IS NOT NULL;
  CREATE INDEX events_by_session_type ON events (session_id, type) WHERE type IS NOT NULL;
  CREATE INDEX events_by_caller ON events (caller) WHERE caller IS NOT NULL;
  INSERT INTO meta (key, value) SELECT 'untyped-to', CAST(MAX(seq) AS TEXT) FROM events HAVING MAX(seq) IS NOT NULL;
  `,
  `
  CREATE TABLE records (
    ordinal INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    group_key TEXT,
    revision INTEGER NOT NULL CHECK (revision > 0),
    body TEXT NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX records_by_group ON records (kind, group_key) WHERE group_key IS NOT NULL;
  `,
  `
  ALTER TABLE messages ADD COLUMN intended_turn INTEGER;
  ALTER TABLE messages ADD COLUMN answers TEXT;
  `,
  `
  -- No table changes. From here on sessions.body has sections (session/session-record.ts), which no earlier version can read.
  `,
  `
  ALTER TABLE events ADD COLUMN via TEXT;
  `,
  `
  ALTER TABLE messages ADD COLUMN settled_boot TEXT;
  ALTER TABLE messages ADD COLUMN settled_up_ms INTEGER;
  `,
];

export function migrate(db: Sqlite, scripts: readonly string[] = MIGRATIONS): void {
  const version = schemaVersion(db);
  if (version > scripts.length) {
    const message = `The database has schema ${version} and this Reeve knows ${scripts.length}: it was written by a newer version; install that version again.`;
    throw new ReeveError({
      code: "store-too-new",
      kind: "config",
      message,
      details: { version, known: scripts.length },
    });
  }
  for (let next = version; next < scripts.length; next += 1) {
    db.transaction(() => {
      db.exec(scripts[next] ?? "");
      failpoint("store.mid-migration");
      db.exec(`PRAGMA user_version=${next + 1}`);
    }, "store.before-migration-commit");
  }
}

export function schemaVersion(db: Sqlite): number {
  return db.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}
