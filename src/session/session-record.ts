/**
 * A session's record as it was read from a file or a row, whichever version
 * wrote it. A state.json lies in a directory its agent can write to, so nothing
 * in it is taken on trust: what `completed` returns is a session only if
 * `isSession` says so.
 *
 * Until schema 8 a record was flat: the fields of all groups beside one
 * another, and of `watch` the plan in a field of that name.
 */
import { GROUPS, SESSION, type Session } from "./session.ts";
import { isTable, type Table } from "./shape.ts";

export function isSession(value: unknown): value is Session {
  return SESSION.is(value);
}

/**
 * With every field this version knows. What was there keeps its order: records
 * are compared by their text.
 */
export function completed(value: unknown): unknown {
  if (!isTable(value)) return value;
  return SESSION.complete?.(isFlat(value) ? grouped(value) : value);
}

function isFlat(value: Table): boolean {
  return "launch" in value && !("identity" in value);
}

function grouped(flat: Table): Table {
  const { watch = {} } = flat;
  if (!isTable(watch)) return flat;
  const { identity, wish, process, conversation } = GROUPS;
  return {
    ...picked(flat, SESSION.fields),
    identity: picked(flat, identity.fields),
    wish: picked(flat, wish.fields),
    process: picked(flat, process.fields),
    conversation: picked(flat, conversation.fields),
    watch: picked({ ...flat, ...watch }, GROUPS.watch.fields),
  };
}

function picked(from: Table, fields: object): Table {
  return Object.fromEntries(
    Object.keys(fields).flatMap((key) => (Object.hasOwn(from, key) ? [[key, from[key]] as const] : [])),
  );
}
