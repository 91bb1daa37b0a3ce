/**
 * Checks and completes a session's record that was read from a file or a row,
 * whichever version wrote it. An agent can write to the directory of its
 * state.json, so nothing in it is trusted: what `completed` returns is a
 * session only if `isSession` says so.
 *
 * Until schema 8 a record was flat: the fields of all sections beside one
 * another, and of `watch` the plan in a field of that name.
 */
import { SECTIONS, SESSION, type Session } from "./session.ts";
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
  return SESSION.complete?.(isFlat(value) ? inSections(value) : value);
}

function isFlat(value: Table): boolean {
  return "launch" in value && !("identity" in value);
}

/** What has ended is never written again, and lifted at every start: so without detours. */
function inSections(flat: Table): Table {
  const { watch = {} } = flat;
  if (!isTable(watch)) return flat;
  const record: Record<string, unknown> = {};
  for (const key of TOP) if (Object.hasOwn(flat, key)) record[key] = flat[key];
  for (const [name, keys] of FIELDS) {
    const section: Record<string, unknown> = {};
    for (const key of keys) {
      if (Object.hasOwn(flat, key)) section[key] = flat[key];
      else if (name === "watch" && Object.hasOwn(watch, key)) section[key] = watch[key];
    }
    record[name] = section;
  }
  return record;
}

const FIELDS = Object.entries(SECTIONS).map(([name, { fields }]) => [name, Object.keys(fields)] as const);
const TOP = Object.keys(SESSION.fields).filter((key) => !Object.hasOwn(SECTIONS, key));
