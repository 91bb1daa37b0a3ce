/**
 * A memory as a row of memory.db. It is read as a list of columns: Node would make
 * an object with their names for each row, which a search notices.
 */
import type { CallerName } from "../session/caller.ts";
import type { Memory, MemoryKind } from "./memory.ts";

export const COLUMNS =
  "memory.id, memory.project, memory.role, memory.kind, memory.text, memory.tags, memory.session, memory.turn, " +
  "memory.commit_id, memory.author, memory.at";

/** In the order of COLUMNS. */
export type MemoryColumns = readonly [
  id: string,
  project: string,
  role: string | null,
  kind: string,
  text: string,
  tags: string,
  session: string | null,
  turn: number | null,
  commit: string | null,
  author: string,
  at: number,
];

export function memoryOf(row: readonly [...MemoryColumns, ...unknown[]]): Memory {
  const [id, project, role, kind, text, tags, sessionId, turn, commit, by, at] = row;
  return {
    id,
    project,
    role,
    kind: kind as MemoryKind,
    text,
    tags: tags === "[]" ? [] : (JSON.parse(tags) as readonly string[]),
    sessionId,
    turn,
    commit,
    by: by as CallerName,
    at,
  };
}

export function columnsOf({ tags, ...memory }: Memory): MemoryColumns {
  const { id, project, role, kind, text, sessionId, turn, commit, by, at } = memory;
  return [id, project, role, kind, text, JSON.stringify(tags), sessionId, turn, commit, by, at];
}
