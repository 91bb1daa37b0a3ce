/** The file of the index: what is written is found once, and one that is damaged, in any way, is made anew. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Ask, Batch, Entry, IndexWork, NumbersAsk } from "./contract.ts";
import { createIndexWork } from "./index-work.ts";

let directory: string;
let path: string;
let work: IndexWork;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-search-"));
  path = join(directory, "search.db");
  work = createIndexWork(path);
});
afterEach(() => {
  work.close();
  rmSync(directory, { recursive: true, force: true });
});

const entry = (text: string, changes: Partial<Entry> = {}): Entry => ({
  kind: "message",
  sessionId: "s1",
  peer: null,
  agent: "claude",
  role: "builder",
  at: 1_000,
  who: "assistant",
  ref: null,
  text,
  ...changes,
});

const FOLLOWED = { sessionId: "s1", path: "/t.jsonl", cursor: null, total: null, isDone: false };
const ABOUT = { s1: { agent: "claude", role: "builder" }, s2: { agent: "codex", role: "review" } };

function write(batch: Partial<Batch>): void {
  work.write({ epoch: work.state().epoch, entries: [], followed: FOLLOWED, about: ABOUT, ...batch });
}

function find(text: string, changes: Partial<Ask> = {}): readonly string[] {
  return ask(text, changes).entries.map(({ excerpt }) => excerpt.text);
}

function ask(text: string, changes: Partial<Ask> = {}) {
  const none = { sessionId: null, agent: null, role: null, since: null, until: null, page: null, allowed: null };
  return work.find({ text, kinds: [], limit: 20, ...none, ...changes }, null);
}

const numbers = (asked: NumbersAsk) => work.numbers(asked, null);

test("it is for its user alone", () => {
  work.state();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("the same message is there once, however often it is written", () => {
  write({ entries: [entry("hello foo_bar")] });
  write({ entries: [entry("hello foo_bar"), entry("hello again", { at: 2_000 })] });
  expect(find("hello")).toEqual(["hello again", "hello foo_bar"]);
  expect(find("bar")).toEqual(["hello foo_bar"]);
});

test("a batch is written whole or not at all", () => {
  const bad = entry("bad", { at: Number.NaN });
  expect(() => write({ entries: [entry("good"), { ...bad, at: null as never }], eventCursor: 7 })).toThrow("NOT NULL");
  expect(find("good")).toEqual([]);
  expect(work.state()).toMatchObject({ eventCursor: 0, followed: [] });
});

test("filters: session, agent, role, kind and time", () => {
  write({
    entries: [
      entry("word one"),
      entry("word two", { kind: "tool", who: "Bash", ref: "call" }),
      entry("word three", { kind: "event", ref: "3", sessionId: "s2", agent: "codex", role: "review", at: 5_000 }),
      entry("word four", { kind: "mail", ref: "mail-1", sessionId: null, peer: "s2", agent: null, role: null }),
    ],
  });
  expect(find("word", { sessionId: "s1" })).toEqual(["word one", "word two"]);
  expect(find("word", { sessionId: "s2" })).toEqual(["word four", "word three"]);
  expect(find("word", { agent: "codex" })).toEqual(["word three"]);
  expect(find("word", { role: "builder", kinds: ["tool"] })).toEqual(["word two"]);
  expect(find("word", { since: 4_000 })).toEqual(["word three"]);
  expect(find("word", { until: 4_000, kinds: ["event"] })).toEqual([]);
  expect(find("bash")).toEqual(["word two"]);
});

test("a session finds its own and what it may read, and only its own mail", () => {
  write({
    entries: [
      entry("word own"),
      entry("word other", { sessionId: "s2" }),
      entry("word home", { kind: "event", sessionId: null, ref: "1" }),
      entry("word to me", { kind: "mail", ref: "m1", sessionId: "s1", peer: "s3" }),
      entry("word from me", { kind: "mail", ref: "m2", sessionId: "s3", peer: "s1" }),
      entry("word between others", { kind: "mail", ref: "m3", sessionId: "s2", peer: "s3" }),
    ],
  });
  const allowed = { sessionIds: ["s1", "s3"], mailOf: "s1" };
  expect([...find("word", { allowed })].toSorted()).toEqual(["word from me", "word own", "word to me"]);
});

test("pages hold each hit once, also while others are written", () => {
  const entries = Array.from({ length: 700 }, (_, at) => entry(`needle number ${at}`, { at }));
  write({ entries });
  const seen: string[] = [];
  let page: Ask["page"] = null;
  do {
    const found: ReturnType<typeof ask> = ask("needle", { limit: 90, page });
    seen.push(...found.entries.map(({ excerpt }) => excerpt.text));
    page = found.next;
    write({ entries: [entry(`needle new ${seen.length}`)] });
  } while (page !== null);
  expect(seen.toSorted()).toEqual(entries.map(({ text }) => text).toSorted());
});

test("a transcript that was written anew replaces what was read of it", () => {
  write({ entries: [entry("old words")], usages: [{ sessionId: "s1", at: 1, usage: usage(5) }] });
  write({ entries: [entry("new words")], wasReplaced: true });
  expect(find("words")).toEqual(["new words"]);
  expect(numbers({ by: "agent", since: null, until: null, sessionIds: null })).toEqual([]);
});

test("what was removed is not found any more", () => {
  const mail = entry("word mail", { kind: "mail", ref: "mail-1" });
  const event = entry("word event", { kind: "event", ref: "9" });
  write({
    entries: [entry("word said"), mail, event],
    turns: [{ sessionId: "s1", turn: 1, endedAt: 5, verdict: "completed" }],
  });
  expect(work.eventsIn(0, 9, 10)).toEqual([9]);
  work.removeEvents([9]);
  expect(work.mailsIn("", 10)).toEqual(["mail-1"]);
  write({ removedMails: ["mail-1"] });
  expect(find("word")).toEqual(["word said"]);
  work.forget("s1");
  expect(find("word")).toEqual([]);
  expect(work.state()).toMatchObject({ followed: [], sessions: [] });
});

const usage = (inputTokens: number, costUsd: number | null = null) => ({
  inputTokens,
  cachedInputTokens: 1,
  outputTokens: 2,
  costUsd,
});

test("numbers: what is not known is null, and not 0", () => {
  const day = Date.UTC(2026, 10, 17, 12);
  write({
    turns: [
      { sessionId: "s1", turn: 1, startedAt: day },
      { sessionId: "s1", turn: 2, startedAt: day, endedAt: day + 900, verdict: "failed", failure: "quota-exhausted" },
      { sessionId: "s2", turn: 1, endedAt: day + 50, verdict: "interrupted", failure: null },
    ],
    usages: [
      { sessionId: "s1", at: day, usage: usage(10, 0.5) },
      { sessionId: "s1", at: day, usage: usage(20) },
    ],
    calls: [
      { sessionId: "s1", at: day, latencyMs: 100, isError: false },
      { sessionId: "s1", at: day, latencyMs: null, isError: true },
    ],
  });
  write({ turns: [{ sessionId: "s1", turn: 1, endedAt: day + 100, verdict: "completed", failure: null }] });
  const [claude, codex] = numbers({ by: "agent", since: null, until: null, sessionIds: null });
  expect(claude).toEqual({
    group: "claude",
    sessions: 1,
    turns: { completed: 1, failed: 1, interrupted: 0 },
    failures: { "quota-exhausted": 1 },
    turnMs: { p50: 100, p90: 900, p99: 900 },
    tokens: { input: 30, cached: 2, output: 4 },
    costUsd: 0.5,
    isCostPartial: true,
    calls: { count: 2, failed: 1, latencyMs: { p50: 100, p90: 100, p99: 100 } },
  });
  expect(codex).toMatchObject({ group: "codex", turnMs: null, tokens: null, costUsd: null, calls: null });
  const by = (grouping: "role" | "day" | "session") =>
    numbers({ by: grouping, since: null, until: null, sessionIds: null }).map(({ group }) => group);
  expect(by("role")).toEqual(["builder", "review"]);
  expect(by("session")).toEqual(["s1", "s2"]);
  expect(by("day")).toHaveLength(1);
  expect(numbers({ by: "agent", since: day + 1_000, until: null, sessionIds: null })).toEqual([]);
  expect(numbers({ by: "agent", since: null, until: null, sessionIds: ["s2"] }).map(({ group }) => group)).toEqual([
    "codex",
  ]);
});

test("a turn whose end was corrected counts as what it was", () => {
  write({ turns: [{ sessionId: "s1", turn: 1, startedAt: 1, endedAt: 9, verdict: "completed", failure: null }] });
  write({ turns: [{ sessionId: "s1", turn: 1, verdict: "failed", failure: "network" }] });
  expect(numbers({ by: "agent", since: null, until: null, sessionIds: null })[0]).toMatchObject({
    turns: { completed: 0, failed: 1, interrupted: 0 },
    turnMs: { p50: 8 },
  });
});

/** How a file is spoilt while nobody has it open. */
const DAMAGES: Readonly<Record<string, () => void>> = {
  "cut in the middle of a page": () => truncateSync(path, 5_000),
  empty: () => truncateSync(path, 0),
  garbage: () => writeFileSync(path, "this is no database".repeat(1_000)),
  "garbage after a sound beginning": () => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xab, 4_096));
  },
  "read-only": () => chmodSync(path, 0o400),
  "a directory": () => {
    rmSync(path);
    mkdirSync(join(path, "full"), { recursive: true });
  },
  gone: () => rmSync(path),
};

test.each(Object.keys(DAMAGES))("%s: it is made anew, or serves as it is", (name) => {
  write({ entries: Array.from({ length: 200 }, (_, at) => entry(`word ${at}`, { at })) });
  const { epoch } = work.state();
  work.close();
  DAMAGES[name]?.();
  const again = (): string => {
    try {
      return work.state().epoch;
    } catch {
      return work.state().epoch;
    }
  };
  const now = again();
  // Who may do everything can write to a file that is read-only.
  if (name !== "read-only") expect(now).not.toBe(epoch);
  write({ entries: [entry("word after")] });
  expect(find('"word after"')).toEqual(["word after"]);
});

test("one that is removed or damaged while it is open is noticed, and its writer is told", () => {
  write({ entries: [entry("word")] });
  const { epoch } = work.state();
  for (const suffix of ["", "-wal", "-shm"]) if (existsSync(path + suffix)) rmSync(path + suffix);
  expect(() => work.write({ epoch, entries: [entry("later")] })).toThrow("built anew");
  expect(work.state()).toMatchObject({ isNew: true, eventCursor: 0 });
  write({ entries: [entry("later")] });
  expect(find("later")).toEqual(["later"]);
});
