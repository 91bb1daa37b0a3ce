/**
 * Looks something up in the index. The newest few hundred entries that fit are
 * ranked, the best first; the next pages go on with those before them. So a
 * word that is everywhere costs no more than a rare one, and pages stay the same
 * while new entries come.
 */
import { aboutMatch } from "./about-words.ts";
import type { Ask, Entry, EntryKind, Found, FoundEntry, Page } from "./contract.ts";
import { excerptOf, scoreOf } from "./hit.ts";
import type { IndexFile } from "./index-file.ts";
import { type Clause, matchOf, parseQuery } from "./query.ts";

const RANKED_AT_ONCE = 200;

interface Row {
  readonly id: number;
  readonly kind: EntryKind;
  readonly session: string | null;
  readonly peer: string | null;
  readonly agent: string | null;
  readonly role: string | null;
  readonly at: number;
  readonly who: string;
  readonly ref: string | null;
  readonly text: string;
}

export function findEntries(file: IndexFile, ask: Ask): Found {
  const clauses = parseQuery(ask.text);
  const before = ask.page?.before ?? newestId(file) + 1;
  const offset = ask.page?.offset ?? 0;
  const rows = candidates(file, ask, clauses, before);
  const ranked = rows
    .map((row) => ({ row, score: scoreOf(row.text, clauses) + WEIGHT[row.kind] }))
    .toSorted((one, other) => other.score - one.score || other.row.id - one.row.id);
  const shown = ranked.slice(offset, offset + ask.limit);
  return {
    entries: shown.map(({ row, score }): FoundEntry => ({
      ...entryOf(row),
      excerpt: excerptOf(row.text, clauses),
      score: Math.round(score * 1_000) / 1_000,
    })),
    next: nextPage(rows, before, offset + shown.length),
  };
}

/** What somebody said is what people look for first. */
const WEIGHT = { message: 0.3, mail: 0.3, tool: 0.1, event: 0 } as const satisfies Record<EntryKind, number>;

function newestId(file: IndexFile): number {
  return file.get<{ id: number | null }>("SELECT max(id) AS id FROM entry")?.id ?? 0;
}

function candidates(file: IndexFile, ask: Ask, clauses: readonly Clause[], before: number): readonly Row[] {
  const { since, until, allowed } = ask;
  const match = [`text : (${matchOf(clauses)})`, ...aboutMatch(ask)].join(" AND ");
  const conditions: [string, (string | number)[]][] = [["words MATCH ? AND words.rowid < ?", [match, before]]];
  if (since !== null) conditions.push(["entry.at >= ?", [since]]);
  if (until !== null) conditions.push(["entry.at < ?", [until]]);
  if (allowed !== null)
    conditions.push([
      "CASE entry.kind WHEN 'mail' THEN entry.session = ? OR entry.peer = ? " +
        "ELSE entry.session IN (SELECT value FROM json_each(?)) END",
      [allowed.mailOf, allowed.mailOf, JSON.stringify(allowed.sessionIds)],
    ]);
  return file.all<Row>(
    `SELECT entry.id, kind, session, peer, agent, role, at, who, ref, entry.text FROM words
     JOIN entry ON entry.id = words.rowid WHERE ${conditions.map(([sql]) => `(${sql})`).join(" AND ")}
     ORDER BY words.rowid DESC LIMIT ${RANKED_AT_ONCE}`,
    ...conditions.flatMap(([, values]) => values),
  );
}

function nextPage(rows: readonly Row[], before: number, shown: number): Page | null {
  if (shown < rows.length) return { before, offset: shown };
  return rows.length < RANKED_AT_ONCE ? null : { before: rows.at(-1)?.id ?? 0, offset: 0 };
}

function entryOf({ kind, session, peer, agent, role, at, who, ref }: Row): Omit<Entry, "text"> {
  return { kind, sessionId: session, peer, agent, role, at, who, ref };
}
