/**
 * A memory.db that is damaged in several ways, on real files: what can be read is
 * there afterwards, once, the damaged file is kept, and somebody is told.
 */
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMemoryStore, type MemoryStore } from "./memory-store.ts";
import type { Memory, MemoryFilter } from "./memory.ts";

const PAGE = 4_096;
const COUNT = 400;
const ALL: MemoryFilter = { project: null, role: null, kind: null, tag: null };

let directory: string;
let path: string;
let told: string[];
let stores: MemoryStore[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-memory-damage-"));
  path = join(directory, "memory.db");
  told = [];
  stores = [];
});
afterEach(() => {
  stores.forEach((store) => store.close());
  rmSync(directory, { recursive: true, force: true });
});

function opened(): MemoryStore {
  const store = createMemoryStore(path, (warning) => told.push(warning));
  stores.push(store);
  return store;
}

function memory(at: number): Memory {
  return {
    id: `m${at}`,
    project: "/p/.git",
    role: null,
    kind: "note",
    text: `word number${at} ${"x".repeat(1_000)}`,
    tags: at % 2 === 0 ? ["even"] : [],
    sessionId: "s",
    turn: at,
    commit: null,
    by: "operator",
    at: 1_790_000_000_000 + at,
  };
}

/** A whole file without -wal, of which some memories were forgotten. */
function fill(): void {
  const store = opened();
  store.addAll(Array.from({ length: COUNT }, (_, at) => memory(at)));
  for (const at of FORGOTTEN) store.forget(`m${at}`);
  store.close();
}

const FORGOTTEN = [3, 200];
const KEPT = Array.from({ length: COUNT }, (_, at) => at).filter((at) => !FORGOTTEN.includes(at));

function overwrite(offset: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}

/** The pages that belong to a table or index, as SQLite itself tells. */
function pagesOf(name: string): readonly number[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db
      .prepare("SELECT pageno FROM dbstat WHERE name = ? ORDER BY pageno")
      .all(name)
      .map((row) => Number(row["pageno"]));
  } finally {
    db.close();
  }
}

/** Everything that the store still has, each as it was; nothing twice, and each found by its words. */
function expectSound(store: MemoryStore, least: number): void {
  const listed = store.list(ALL, null, COUNT * 2).map(({ memory: held }) => held);
  const ids = listed.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(least);
  for (const held of listed) {
    const at = Number(held.id.slice(1));
    expect(KEPT).toContain(at);
    expect(held).toEqual(memory(at));
    expect(store.find(`number${at}`, ALL, 5).map(({ memory: { id } }) => id)).toEqual([held.id]);
  }
  expect(store.find("word", ALL, COUNT * 2)).toHaveLength(ids.length);
}

function expectTold(): void {
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/^memory\.db was damaged \(.+\)\. \d+ memories could be read/);
  const kept = readdirSync(directory).filter((name) => name.startsWith("memory.db.damaged-"));
  expect(kept.filter((name) => !name.endsWith("-wal"))).toHaveLength(1);
  expect(told[0]).toContain(kept[0]);
  expect(readdirSync(directory).filter((name) => /mended|salvage/.test(name))).toEqual([]);
}

test.each([
  ["its header is garbage", () => overwrite(0, Buffer.alloc(100, 0xee))],
  ["its first page is garbage", () => overwrite(0, Buffer.alloc(PAGE, 0xee))],
  ["its schema is garbage", () => overwrite(100, Buffer.alloc(300, 0xff))],
  ["its words are garbage", () => pagesOf("words_data").forEach((page) => overwriteBody(page))],
  ["the settings of its words are garbage", () => pagesOf("words_config").forEach((page) => overwriteBody(page))],
  ["an index is garbage", () => pagesOf("memory_of_project").forEach((page) => overwriteBody(page))],
])("%s: every memory is taken over", (_, damage) => {
  fill();
  damage();
  const store = opened();
  expect(store.find("word", ALL, COUNT)).toHaveLength(KEPT.length);
  expectSound(store, KEPT.length);
  expect(store.add(memory(COUNT + 1))).toBe(true);
  expectTold();
  expect(store.warning()).toBe(told[0]);
  store.close();
  expect(opened().count()).toBe(KEPT.length + 1);
  expect(told).toHaveLength(1);
});

function overwriteBody(page: number): void {
  overwrite((page - 1) * PAGE, Buffer.alloc(PAGE, 0xee));
}

test("pages in the middle are garbage, found in the middle of a read: all other memories are taken over", () => {
  fill();
  const pages = pagesOf("memory");
  // Rows of about 1.1 KB: three on a page.
  for (const page of [pages.at(20), pages.at(60)]) overwriteBody(page ?? 0);
  const store = opened();
  expect(store.get("m0")).toEqual(memory(0));
  expect(told).toEqual([]);
  expect(store.list(ALL, null, COUNT * 2).length).toBeGreaterThan(KEPT.length - 10);
  expectSound(store, KEPT.length - 10);
  expectTold();
});

test("it is cut off: what is before the end is taken over", () => {
  fill();
  const size = readFileSync(path).length;
  truncateSync(path, Math.floor(size / PAGE / 2) * PAGE + 100);
  const store = opened();
  expect(store.find("word", ALL, COUNT).length).toBeGreaterThan(50);
  expectSound(store, 50);
  expectTold();
});

test("it is no database at all: it begins anew, and says that nothing could be read", () => {
  fill();
  overwrite(0, Buffer.alloc(readFileSync(path).length, "no database "));
  const store = opened();
  expect(store.count()).toBe(0);
  expect(told[0]).toContain("0 memories could be read");
  expectTold();
});

test("a vector store is told of all that was taken over", () => {
  fill();
  overwrite(0, Buffer.alloc(100, 0xee));
  const store = opened();
  store.outgoing.resume("http://x");
  expect(store.outgoing.count()).toBe(KEPT.length);
});

test("the process is killed between the two renames: the mended file is taken", () => {
  fill();
  const whole = readFileSync(path);
  rmSync(path);
  const file = openSync(`${path}.mended`, "w");
  writeSync(file, whole);
  closeSync(file);
  expect(opened().count()).toBe(KEPT.length);
  expect(readdirSync(directory)).not.toContain("memory.db.mended");
});

test("pages all over the file: no call fails, nothing is doubled, nothing comes back", { timeout: 60_000 }, () => {
  fill();
  const whole = readFileSync(path);
  const pages = whole.length / PAGE;
  for (let page = 1; page <= pages; page += Math.ceil(pages / 12)) {
    writeWhole(whole);
    told.length = 0;
    overwrite((page - 1) * PAGE, randomBytes(page));
    const store = opened();
    expect(store.find("word", ALL, COUNT).length).toBeGreaterThan(0);
    expect(store.add(memory(COUNT + 1))).toBe(true);
    expect(store.forget(`m${COUNT + 1}`)).toBe(true);
    const listed = store.list(ALL, null, COUNT * 2);
    if (told.length > 0) expectSound(store, KEPT.length - 200);
    else expect(listed).toHaveLength(KEPT.length);
    store.close();
  }
});

function writeWhole(bytes: Buffer): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
  closeSync(openSync(path, "w"));
  overwrite(0, bytes);
}

/** The same each time. */
function randomBytes(seed: number): Buffer {
  let state = seed * 7_919;
  return Buffer.from(
    Array.from({ length: PAGE }, () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 24),
  );
}
