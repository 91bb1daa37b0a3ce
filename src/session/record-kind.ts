/**
 * A kind of record beside sessions and messages: records that several sessions
 * share (mail, work, quotas) or that belong to the home itself. To store a new
 * kind, define it: the store keeps all of them in one table (store/records.ts),
 * and a commit changes any number of them together with sessions and messages.
 */

/** What every record has. */
export interface Kept {
  /** Its own for good: the id of a record that was removed is not used again. */
  readonly id: string;
  /** 1 when it is new; each change is the next. A change of anything but the stored revision is refused. */
  readonly revision: number;
}

export interface RecordKind<Stored extends Kept> {
  readonly name: string;
  /** Throws if it is none. Completes what an earlier version wrote. */
  parse(value: unknown): Stored;
  put(record: Stored): RecordChange;
  /** The record as it is stored. */
  remove(record: Stored): RecordChange;
}

export interface RecordChange {
  readonly kind: "record";
  readonly name: string;
  readonly id: string;
  readonly revision: number;
  readonly group: string | null;
  /** Null: it is removed. */
  readonly record: Kept | null;
}

export function defineKind<Stored extends Kept>(kind: {
  readonly name: string;
  readonly parse: (value: unknown) => Stored;
  /** Records of a group are found together, such as the mail of one session. */
  readonly groupOf?: (record: Stored) => string;
}): RecordKind<Stored> {
  const { name, parse } = kind;
  const about = (record: Stored) => ({
    kind: "record" as const,
    name,
    id: record.id,
    revision: record.revision,
    group: kind.groupOf?.(record) ?? null,
  });
  return {
    name,
    parse,
    put: (record) => ({ ...about(record), record }),
    remove: (record) => ({ ...about(record), record: null }),
  };
}
