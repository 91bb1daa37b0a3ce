import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemoryStore, type MemoryStore } from "./memory-store.ts";
import type { Memory, MemoryFilter } from "./memory.ts";

let directory: string;
let store: MemoryStore;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-memory-"));
  store = createMemoryStore(join(directory, "memory.db"));
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const ALL: MemoryFilter = { project: null, role: null, kind: null, tag: null };

function memory(id: string, text: string, changes: Partial<Memory> = {}): Memory {
  return {
    id,
    project: "/p/.git",
    role: null,
    kind: "note",
    text,
    tags: [],
    sessionId: null,
    turn: null,
    commit: null,
    by: "operator",
    at: 1_790_000_000_000,
    ...changes,
  };
}

const found = (text: string, filter: Partial<MemoryFilter> = {}): readonly string[] =>
  store.find(text, { ...ALL, ...filter }, 10).map(({ memory: { id } }) => id);

describe("memories", () => {
  it("are read back as they were written, and an id is there once", () => {
    const whole = memory("a", "the parser", {
      role: "builder",
      kind: "thought",
      tags: ["x", "y"],
      sessionId: "s",
      turn: 3,
      commit: "abcdef1",
      by: "session:s",
    });
    expect(store.add(whole)).toBe(true);
    expect(store.add({ ...whole, text: "another" })).toBe(false);
    expect(store.get("a")).toEqual(whole);
    expect(store.count()).toBe(1);
  });

  it("make no file before the first is written", () => {
    store.outgoing.useStore(null);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("are found by words, phrases, beginnings, tags and other scripts; the denser first", () => {
    store.add(memory("long", `parser ${"and something else ".repeat(40)}`));
    store.add(memory("dense", "parser parser"));
    store.add(memory("phrase", "the time zone of the tests"));
    store.add(memory("words", "zone by zone, every time"));
    store.add(memory("tagged", "nothing", { tags: ["release-notes"] }));
    store.add(memory("japanese", "時刻のテスト"));
    expect(found("parser")).toEqual(["dense", "long"]);
    expect(found('"time zone"')).toEqual(["phrase"]);
    expect(found("time zone").toSorted()).toEqual(["phrase", "words"]);
    expect(found("pars*").toSorted()).toEqual(["dense", "long"]);
    expect(found("RELEASE")).toEqual(["tagged"]);
    expect(found("テスト")).toEqual(["japanese"]);
  });

  it.each([
    '"',
    "a AND",
    "NEAR(",
    "text:",
    "-x ^",
    "a OR b NOT",
    "* a",
    "'; DROP TABLE memory; --",
    'x" OR about : "p',
    "{a b}: c",
  ])("take %j for words, never for a query of FTS5", (text) => {
    store.add(memory("a", "a or b not near x text c drop"));
    try {
      expect(Array.isArray(store.find(text, ALL, 10))).toBe(true);
    } catch (error) {
      expect(error).toMatchObject({ code: "nothing-to-search" });
    }
    expect(store.count()).toBe(1);
  });

  it("are narrowed by project, role, kind and tag, in both ways alike", () => {
    store.add(memory("own", "word", { role: "builder" }));
    store.add(memory("every", "word", { kind: "prompt", tags: ["t"] }));
    store.add(memory("other-role", "word", { role: "reviewer" }));
    store.add(memory("elsewhere", "word", { project: "/q/.git" }));
    const cases: readonly (readonly [Partial<MemoryFilter>, readonly string[]])[] = [
      [{}, ["elsewhere", "every", "other-role", "own"]],
      [{ project: "/p/.git" }, ["every", "other-role", "own"]],
      [{ project: "/p/.git", role: "builder" }, ["every", "own"]],
      [{ kind: "prompt" }, ["every"]],
      [{ tag: "t" }, ["every"]],
      [{ project: "/none" }, []],
    ];
    for (const [filter, ids] of cases) {
      expect([filter, found("word", filter).toSorted()]).toEqual([filter, ids]);
      const listed = store.list({ ...ALL, ...filter }, null, 10).map(({ memory: { id } }) => id);
      expect([filter, listed.toSorted()]).toEqual([filter, ids]);
    }
  });

  it("are listed newest first, page by page", () => {
    for (let at = 0; at < 5; at += 1) store.add(memory(`m${at}`, "word"));
    const first = store.list(ALL, null, 3);
    expect(first.map(({ memory: { id } }) => id)).toEqual(["m4", "m3", "m2"]);
    const rest = store.list(ALL, first.at(-1)?.place ?? null, 3);
    expect(rest.map(({ memory: { id } }) => id)).toEqual(["m1", "m0"]);
  });

  it("that are forgotten are found nowhere any more", () => {
    store.add(memory("a", "word"));
    expect(store.forget("a")).toBe(true);
    expect(store.forget("a")).toBe(false);
    expect(found("word")).toEqual([]);
    expect(store.get("a")).toBeUndefined();
  });

  it("are noted for a vector store from when there is one, each once, with what became of them", () => {
    store.add(memory("before", "word"));
    store.outgoing.resume("http://x");
    store.add(memory("after", "word"));
    store.add(memory("gone", "word"));
    store.forget("gone");
    const next = store.outgoing.next(10);
    expect(next.map(({ id, memory: held }) => [id, held !== null])).toEqual([
      ["before", true],
      ["after", true],
      ["gone", false],
    ]);
    // Told while the batch was under way: it stays.
    store.forget("after");
    store.outgoing.done(next);
    expect(store.outgoing.next(10).map(({ id }) => id)).toEqual(["after"]);

    store.close();
    store = createMemoryStore(join(directory, "memory.db"));
    store.outgoing.resume("http://x");
    expect(store.outgoing.count()).toBe(1);
    store.outgoing.useStore("http://x another-collection");
    expect(store.outgoing.next(10).map(({ id }) => id)).toEqual(["before"]);
    store.outgoing.resume("http://x");
    expect(store.outgoing.count()).toBe(1);
    store.outgoing.useStore(null);
    expect(store.outgoing.count()).toBe(0);
  });

  it("of a newer Reeve are left alone, and it says so", () => {
    store.add(memory("a", "word"));
    store.close();
    const path = join(directory, "memory.db");
    const file = openSync(path, "r+");
    writeSync(file, Buffer.from([0, 0, 0, 9]), 0, 4, 60);
    closeSync(file);
    store = createMemoryStore(path);
    expect(() => store.count()).toThrow("newer version");
    expect(readdirSync(directory)).toContain("memory.db");
  });
});
