/**
 * The memories of all projects: put in, found, listed, forgotten. Each change is one
 * transaction together with what the vector store must be told of it, so that a
 * kill leaves both or neither. The file is opened when it is first needed: a home
 * without memories has none.
 */
import { existsSync } from "node:fs";
import { failpoint } from "../platform/failpoint.ts";
import type { ReeveError } from "../platform/reeve-error.ts";
import { matchOf, parseQuery } from "../search/query.ts";
import { insertMemory, isDamaged, type MemoryFile, mendMemoryFile, openMemoryFile } from "./memory-file.ts";
import { COLUMNS, type MemoryColumns, memoryOf } from "./memory-row.ts";
import type { Memory, MemoryFilter } from "./memory.ts";

export interface Ranked {
  readonly memory: Memory;
  /** Higher is better; only comparable within one answer. */
  readonly score: number;
}

export interface Outgoing {
  readonly place: number;
  readonly id: string;
  /** Null: it was forgotten. */
  readonly memory: Memory | null;
}

export interface MemoryStore {
  /** False: there is one with this id already, and it stays as it is. */
  add(memory: Memory): boolean;
  /** All of them in one transaction; how many are new. */
  addAll(memories: readonly Memory[]): number;
  get(id: string): Memory | undefined;
  /** False: there is none. */
  forget(id: string): boolean;
  /** The best first. Throws where the text holds no word. */
  find(text: string, filter: MemoryFilter, limit: number): readonly Ranked[];
  /** Newest first, of those before `before`. */
  list(
    filter: MemoryFilter,
    before: number | null,
    limit: number,
  ): readonly { readonly place: number; readonly memory: Memory }[];
  count(): number;
  readonly outgoing: {
    /** From now on changes are noted for this vector store; one that was not told of anything yet is told of all. */
    useStore(name: string | null): void;
    /** The same without having reached it: whichever collection there was told before. */
    resume(url: string): void;
    next(limit: number): readonly Outgoing[];
    /** The store has these; what was noted for one of them since then stays, also if the file was mended meanwhile. */
    done(told: readonly Pick<Outgoing, "place" | "id">[]): void;
    count(): number;
  };
  /** What somebody should know of the file; null: nothing. */
  warning(): string | null;
  close(): void;
}

/** `onMended`: told what became of a damaged file. */
export function createMemoryStore(path: string, onMended: (warning: string) => void = () => {}): MemoryStore {
  let opened: MemoryFile | null = null;
  let target: string | null = null;
  let warning: string | null = null;

  const file = (): MemoryFile => (opened ??= openMemoryFile(path));

  function mend(damage: ReeveError): void {
    opened?.close();
    opened = null;
    warning = mendMemoryFile(path, damage);
    onMended(warning);
    // The new file does not know which vector store was told what.
    if (target !== null) useStore(target);
  }

  /** Damage may show at any time. Then the file is mended, and the work done again: a change is whole or not made. */
  function whole<Values extends readonly unknown[], Result>(
    work: (...values: Values) => Result,
  ): (...values: Values) => Result {
    return (...values) => {
      try {
        return work(...values);
      } catch (error) {
        if (!isDamaged(error)) throw error;
        mend(error);
        return work(...values);
      }
    };
  }

  function put(memory: Memory): boolean {
    if (!insertMemory(file(), memory)) return false;
    note(memory.id, "put");
    return true;
  }

  function addAll(memories: readonly Memory[]): number {
    const added = file().transaction(() => {
      const count = memories.filter(put).length;
      failpoint("memory.before-commit");
      return count;
    });
    failpoint("memory.after-commit");
    return added;
  }

  function note(id: string, action: "put" | "remove"): void {
    if (target === null) return;
    file().run("DELETE FROM outgoing WHERE id = ?", id);
    file().run("INSERT INTO outgoing (id, action) VALUES (?, ?)", id, action);
  }

  const toldStore = (): string | undefined =>
    file().get<{ value: string }>("SELECT value FROM meta WHERE key = 'vector-store'")?.value;

  function useStore(name: string | null): void {
    target = name;
    if (name === null && !existsSync(path)) return;
    file().transaction(() => {
      if (toldStore() === (name ?? undefined)) return;
      file().run("DELETE FROM outgoing");
      file().run("DELETE FROM meta WHERE key = 'vector-store'");
      if (name === null) return;
      file().run("INSERT INTO meta (key, value) VALUES ('vector-store', ?)", name);
      file().run("INSERT INTO outgoing (id, action) SELECT id, 'put' FROM memory ORDER BY place");
    });
  }

  function get(id: string): Memory | undefined {
    const [row] = file().columns<MemoryColumns>(`SELECT ${COLUMNS} FROM memory WHERE id = ?`, id);
    return row === undefined ? undefined : memoryOf(row);
  }

  return {
    add: whole((memory) => addAll([memory]) === 1),
    addAll: whole(addAll),

    get: whole(get),

    forget: whole((id) =>
      file().transaction(() => {
        const row = file().get<{ place: number }>("SELECT place FROM memory WHERE id = ?", id);
        if (row === undefined) return false;
        file().run("DELETE FROM words WHERE rowid = ?", row.place);
        file().run("DELETE FROM memory WHERE place = ?", row.place);
        note(id, "remove");
        return true;
      }),
    ),

    // All hits are ranked, and then looked at in the order of their rank until enough of them pass the filter. As further
    // words of the query it would cost bm25 a look at every memory of the project (30 ms of 100,000). LIMIT -1 keeps SQLite
    // from merging the two parts; FTS5's own ORDER BY rank would prepare a statement more and count the words twice.
    find: whole((text, filter, limit) => {
      const match = matchOf(parseQuery(text));
      const { sql, values } = conditionsOf(filter);
      const hits = file().columns<readonly [...MemoryColumns, number]>(
        `SELECT ${COLUMNS}, hit.rank FROM
           (SELECT rowid AS place, bm25(words) AS rank FROM words WHERE words MATCH ? ORDER BY 2 LIMIT -1) AS hit
           CROSS JOIN memory ON memory.place = hit.place WHERE TRUE${sql} ${LIMIT}`,
        match,
        ...values,
        limit,
      );
      return hits.map((hit) => ({ memory: memoryOf(hit), score: -hit[11] }));
    }),

    list: whole((filter, before, limit) => {
      const { sql, values } = conditionsOf(filter);
      return file()
        .columns<readonly [...MemoryColumns, place: number]>(
          `SELECT ${COLUMNS}, place FROM memory WHERE place < ?${sql} ORDER BY place DESC ${LIMIT}`,
          before ?? Number.MAX_SAFE_INTEGER,
          ...values,
          limit,
        )
        .map((row) => ({ place: row[11], memory: memoryOf(row) }));
    }),

    count: whole(() => file().get<{ count: number }>("SELECT COUNT(*) AS count FROM memory")?.count ?? 0),

    outgoing: {
      useStore: whole(useStore),
      resume: whole((url) =>
        useStore(toldStore()?.startsWith(`${url} `) === true ? (toldStore() ?? null) : `${url} ?`),
      ),
      next: whole((limit) =>
        file()
          .all<{ place: number; id: string }>(`SELECT place, id FROM outgoing ORDER BY place ${LIMIT}`, limit)
          .map(({ place, id }) => ({ place, id, memory: get(id) ?? null })),
      ),
      done: whole((told) =>
        file().transaction(() => {
          for (const { place, id } of told) file().run("DELETE FROM outgoing WHERE place = ? AND id = ?", place, id);
        }),
      ),
      count: whole(() => file().get<{ count: number }>("SELECT COUNT(*) AS count FROM outgoing")?.count ?? 0),
    },

    warning: () => warning,

    close() {
      opened?.close();
      opened = null;
    },
  };
}

/** SQLite looks at the value behind a bare `LIMIT ?`, and so prepares the statement again each time (0.07 ms). */
const LIMIT = "LIMIT CAST(? AS INTEGER)";

const CONDITIONS = [
  ["project", " AND memory.project = ?"],
  ["role", " AND (memory.role IS NULL OR memory.role = ?)"],
  ["kind", " AND memory.kind = ?"],
  ["tag", " AND EXISTS (SELECT 1 FROM json_each(memory.tags) WHERE value = ?)"],
] as const satisfies readonly (readonly [keyof MemoryFilter, string])[];

function conditionsOf(filter: MemoryFilter): { readonly sql: string; readonly values: readonly string[] } {
  let sql = "";
  const values: string[] = [];
  for (const [field, condition] of CONDITIONS) {
    const value = filter[field];
    if (value === null) continue;
    sql += condition;
    values.push(value);
  }
  return { sql, values };
}
