/** Writes one batch into the index, inside a transaction: what was read, and up to where, together. */
import { hash } from "node:crypto";
import { aboutOf } from "./about-words.ts";
import type { Batch, Entry, Followed } from "./contract.ts";
import type { IndexFile } from "./index-file.ts";
import { indexed } from "./words.ts";

const EVENTS = 0;
const MAILS = -1;
/** Removed in one transaction. */
const AT_ONCE = 2_000;

export function writeBatch(file: IndexFile, batch: Batch): void {
  const source = batch.followed === undefined ? null : follow(file, batch.followed);
  if (source !== null && batch.wasReplaced === true) removeSource(file, source);
  for (const entry of batch.entries) put(file, entry, source);
  for (const id of batch.removedMails ?? []) removeWhere(file, `source = ${MAILS} AND ref = ?`, id);
  writeNumbers(file, batch, source);
  if (batch.eventCursor !== undefined) setMeta(file, "event-cursor", String(batch.eventCursor));
}

export function setMeta(file: IndexFile, key: string, value: string): void {
  file.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", key, value);
}

export function forgetSession(file: IndexFile, sessionId: string): void {
  for (const { id } of file.all<{ id: number }>("SELECT id FROM followed WHERE session = ?", sessionId)) {
    while (file.transaction(() => removeWhere(file, "source = ?", id)) === AT_ONCE) {
      // A long transcript goes a part at a time.
    }
    file.transaction(() => {
      removeSource(file, id);
      file.run("DELETE FROM followed WHERE id = ?", id);
    });
  }
  file.run("DELETE FROM turn WHERE session = ?", sessionId);
}

export function removeEvents(file: IndexFile, seqs: readonly number[]): void {
  const among = JSON.stringify(seqs);
  removeWhere(file, `source = ${EVENTS} AND digest IN (SELECT value FROM json_each(?))`, among);
}

export function removeMails(file: IndexFile, ids: readonly string[]): void {
  for (const id of ids) removeWhere(file, `source = ${MAILS} AND ref = ?`, id);
}

function follow(file: IndexFile, { sessionId, path, cursor, total, isDone }: Followed): number {
  const values = [cursor === null ? null : JSON.stringify(cursor), total === null ? null : JSON.stringify(total)];
  const row = file.get<{ id: number }>(
    `INSERT INTO followed (session, path, cursor, total, is_done) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session, path) DO UPDATE SET cursor = excluded.cursor, total = excluded.total, is_done = excluded.is_done
     RETURNING id`,
    sessionId,
    path,
    ...values,
    isDone ? 1 : 0,
  );
  return row?.id ?? 0;
}

function put(file: IndexFile, entry: Entry, source: number | null): void {
  const { kind, sessionId, peer, agent, role, at, who, ref, text } = entry;
  const where = kind === "event" ? EVENTS : kind === "mail" ? MAILS : (source ?? 0);
  const { changes, lastId } = file.run(
    `INSERT INTO entry (source, digest, kind, session, peer, agent, role, at, who, ref, text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, digest) DO NOTHING`,
    where,
    digestOf(entry),
    kind,
    sessionId,
    peer,
    agent,
    role,
    at,
    who,
    ref,
    text,
  );
  if (changes === 0) return;
  file.run(
    "INSERT INTO words (rowid, text, about) VALUES (?, ?, ?)",
    lastId,
    indexed(`${who} ${text}`),
    aboutOf(entry),
  );
}

/** The same message told twice (an agent may write down its whole conversation again) has the same. */
function digestOf({ kind, at, who, ref, text }: Entry): number {
  if (kind === "event") return Number(ref);
  const digest = hash("sha256", kind === "mail" ? (ref ?? "") : `${kind} ${at} ${who} ${ref ?? ""}\n${text}`, "hex");
  return Number.parseInt(digest.slice(0, 13), 16);
}

function writeNumbers(file: IndexFile, batch: Batch, source: number | null): void {
  const of = (id: string): readonly [string, string] => {
    const { agent, role } = batch.about?.[id] ?? { agent: "", role: "" };
    return [agent, role];
  };
  for (const { sessionId, turn, startedAt, endedAt, verdict, failure } of batch.turns ?? []) {
    // Told again, the end that was told first counts, unless it was corrected.
    file.run(
      `INSERT INTO turn (session, number, agent, role, started_at, ended_at, outcome, failure)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (session, number) DO UPDATE SET
         started_at = coalesce(started_at, excluded.started_at), ended_at = coalesce(ended_at, excluded.ended_at),
         outcome = coalesce(excluded.outcome, outcome),
         failure = CASE WHEN excluded.outcome IS NULL THEN failure ELSE excluded.failure END`,
      sessionId,
      turn,
      ...of(sessionId),
      startedAt ?? null,
      endedAt ?? null,
      verdict ?? null,
      failure ?? null,
    );
  }
  for (const { sessionId, at, usage } of batch.usages ?? [])
    file.run(
      "INSERT INTO usage (source, session, agent, role, at, input, cached, output, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      source ?? 0,
      sessionId,
      ...of(sessionId),
      at,
      usage.inputTokens,
      usage.cachedInputTokens,
      usage.outputTokens,
      usage.costUsd,
    );
  for (const { sessionId, at, latencyMs, isError } of batch.calls ?? [])
    file.run(
      "INSERT INTO model_call (source, session, agent, role, at, latency_ms, is_error) VALUES (?, ?, ?, ?, ?, ?, ?)",
      source ?? 0,
      sessionId,
      ...of(sessionId),
      at,
      latencyMs,
      isError ? 1 : 0,
    );
}

/** All that came from this file. */
function removeSource(file: IndexFile, source: number): void {
  while (removeWhere(file, "source = ?", source) === AT_ONCE) {
    // and the next
  }
  file.run("DELETE FROM usage WHERE source = ?", source);
  file.run("DELETE FROM model_call WHERE source = ?", source);
}

/** How many went; at most so many at once. */
function removeWhere(file: IndexFile, condition: string, value: string | number): number {
  const rows = file.all<{ id: number }>(`SELECT id FROM entry WHERE ${condition} LIMIT ${AT_ONCE}`, value);
  for (const { id } of rows) {
    file.run("DELETE FROM words WHERE rowid = ?", id);
    file.run("DELETE FROM entry WHERE id = ?", id);
  }
  return rows.length;
}
