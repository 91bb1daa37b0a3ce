/**
 * Target 22: a search over 100,000 memories (`MemoryStore.find`, from the text that
 * was typed to the memories) against one FTS5 table that holds the same eleven fields
 * and hands over all of them with their rank (`ORDER BY rank`, a prepared statement).
 * Both are in this process: no HTTP on either side. The note tells the 99th
 * percentile of our own; it is to be below 50 ms on a quiet machine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryStore } from "../../src/memory/memory-store.ts";
import { columnsOf } from "../../src/memory/memory-row.ts";
import type { Memory, MemoryFilter } from "../../src/memory/memory.ts";
import { alternate, atMost, compare, timed } from "./support/measure.ts";
import type { Target } from "./support/target.ts";

const PROJECT = "/home/me/project/.git";
const WORDS = 20_000;
const WORDS_IN_TEXT = 60;

/** In the order of `columnsOf`. Only the text is searched. */
const COLUMNS = ["id", "project", "role", "kind", "text", "tags", "session", "turn", "commit_id", "author", "at"]
  .map((column) => (column === "text" ? column : `${column} UNINDEXED`))
  .join(", ");

/** What is asked of Reeve, and of FTS5. */
const QUESTIONS = {
  "a rare word": ["needle777", "needle777"],
  "a word in every hundredth": ["haystack", "haystack"],
  "two words": ["haystack straw", "haystack AND straw"],
  "a phrase": ['"haystack of hay"', '"haystack of hay"'],
  "the beginning of a word": ["needle777*", "needle777*"],
} as const;

export const memorySearch: Target = {
  number: 22,
  title: "search over 100,000 memories",
  async measure({ scope, isQuick, rounds, add }) {
    const directory = mkdtempSync(join(tmpdir(), "reeve-bench-memory-"));
    scope.defer(() => rmSync(directory, { recursive: true, force: true }));
    const count = isQuick ? 10_000 : 100_000;
    const store = createMemoryStore(join(directory, "memory.db"));
    const plain = new DatabaseSync(join(directory, "plain.db"));
    scope.defer(() => void [store.close(), plain.close()]);
    plain.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; BEGIN");
    plain.exec(`CREATE VIRTUAL TABLE m USING fts5 (${COLUMNS})`);
    const insert = plain.prepare("INSERT INTO m VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const memories = Array.from({ length: count }, (_, at) => memoryOf(at));
    for (const memory of memories) insert.run(...columnsOf(memory));
    plain.exec("COMMIT");
    store.addAll(memories);
    const asking = "SELECT *, rank FROM m WHERE m MATCH ?";
    const open = plain.prepare(`${asking} ORDER BY rank LIMIT 10`);
    const narrow = plain.prepare(
      `${asking} AND project = '${PROJECT}' AND (role IS NULL OR role = 'builder') ORDER BY rank LIMIT 10`,
    );
    const scopes: readonly (readonly [string, MemoryFilter, typeof open])[] = [
      ["", { project: null, role: null, kind: null, tag: null }, open],
      [" of a project and role", { project: PROJECT, role: "builder", kind: null, tag: null }, narrow],
    ];
    for (const [what, [text, match]] of Object.entries(QUESTIONS))
      for (const [where, filter, ask] of scopes) {
        const samples = await alternate({ count: rounds(200, 30), warmUp: 5, pauseMs: 0 }, [
          async () => ({ plain: await timed(async () => ask.all(match)) }),
          async () => ({ reeve: await timed(async () => store.find(text, filter, 10)) }),
        ]);
        const sorted = samples("reeve").toSorted((one, other) => one - other);
        const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
        add(
          compare({
            target: 22,
            what: `${what}${where}`,
            subject: samples("reeve"),
            baseline: samples("plain"),
            baselineName: `plain FTS5, ${count} texts`,
            limit: atMost(1.3),
            note: `99th percentile ${p99.toFixed(1)} ms`,
          }),
        );
      }
  },
};

function memoryOf(at: number): Memory {
  return {
    id: `m${at}`,
    project: PROJECT,
    role: at % 2 === 0 ? null : "builder",
    kind: "note",
    text: textOf(at),
    tags: [],
    sessionId: null,
    turn: null,
    commit: null,
    by: "operator",
    at,
  };
}

/** Words come as often as words do: few of them often. */
function textOf(at: number): string {
  let seed = at * 2_654_435_761 + 42;
  const random = (): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff) / 0x7fff_ffff;
  const words = Array.from({ length: WORDS_IN_TEXT }, () => `word${Math.floor(random() ** 3 * WORDS).toString(36)}`);
  if (at % 100 === 0) words.splice(9, 0, "haystack", at % 1_000 === 0 ? "of hay" : "of straw");
  return `${words.join(" ")} needle${at}`;
}
