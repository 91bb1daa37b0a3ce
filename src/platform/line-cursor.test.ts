import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type LineCursor, type NewLines, readNewLines, type ReadLimits } from "./line-cursor.ts";

const directory = mkdtempSync(join(tmpdir(), "reeve-lines-"));
const file = join(directory, "lines");
beforeEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** One call with a cursor that was stored and loaded again. */
async function read(cursor: LineCursor | null, limits: Partial<ReadLimits> = {}, path = file): Promise<NewLines> {
  return readNewLines(path, JSON.parse(JSON.stringify(cursor)) as LineCursor | null, limits);
}

interface Total {
  readonly texts: readonly string[];
  readonly ends: readonly number[];
  readonly skipped: number;
  readonly replacements: number;
  readonly cursor: LineCursor | null;
}

async function readAll(cursor: LineCursor | null, limits: Partial<ReadLimits> = {}, path = file): Promise<Total> {
  const lines = [];
  let skipped = 0;
  let replacements = 0;
  for (;;) {
    const step = await read(cursor, limits, path);
    lines.push(...step.lines);
    skipped += step.skippedLines;
    replacements += Number(step.wasReplaced);
    cursor = step.cursor;
    if (!step.hasMore)
      return { texts: lines.map((l) => l.text), ends: lines.map((l) => l.end), skipped, replacements, cursor };
  }
}

test("what is new since the cursor, each line with the offset just past it", async () => {
  writeFileSync(file, "one\r\n\ntwo €\nhalf a li");
  const first = await read(null);
  expect(first).toEqual({
    lines: [
      { text: "one", end: 5 },
      { text: "two €", end: 14 },
    ],
    skippedLines: 0,
    cursor: { identity: expect.stringContaining(`${statSync(file).ino}:`) as string, offset: 14, isInLongLine: false },
    wasReplaced: false,
    hasMore: false,
  });
  const nothing = { lines: [], skippedLines: 0, wasReplaced: false, hasMore: false };
  expect(await read(first.cursor)).toEqual({ ...nothing, cursor: first.cursor });
  appendFileSync(file, "ne\n");
  const second = await read(first.cursor);
  expect(second.lines).toEqual([{ text: "half a line", end: 26 }]);
  expect(await read(second.cursor)).toEqual({ ...nothing, cursor: second.cursor });
});

test("torn at every byte: every line exactly once, whatever the limits", async () => {
  const bytes = Buffer.from(`{"a":"é"}\n\n{"b":"€ 🦉"}\r\n\0\0\0{"c":1}\n${"x".repeat(40)}\n\0\0\n{"d":2}\nlast, torn`);
  for (const limits of [{}, { mostBytes: 1, longestLine: 20 }, { mostBytes: 7, longestLine: 20 }]) {
    const descriptor = openSync(file, "w");
    let cursor: LineCursor | null = null;
    const seen: string[] = [];
    let skipped = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      writeSync(descriptor, bytes, at, 1);
      const total = await readAll(cursor, limits);
      seen.push(...total.texts);
      skipped += total.skipped;
      expect(total.replacements).toBe(0);
      cursor = total.cursor;
    }
    closeSync(descriptor);
    const long = limits.longestLine === undefined ? ["x".repeat(40)] : [];
    expect(seen).toEqual(['{"a":"é"}', '{"b":"€ 🦉"}', '{"c":1}', ...long, '{"d":2}']);
    expect(skipped).toBe(1 - long.length);
  }
});

test("lines glued into one are one line; the ones around it are unharmed", async () => {
  writeFileSync(file, '{"a":1}\n{"b":2}{"c":3}\n{"d":4}\n');
  expect((await readAll(null)).texts).toEqual(['{"a":1}', '{"b":2}{"c":3}', '{"d":4}']);
});

test("a run of NUL costs nothing but itself, also one of megabytes", async () => {
  const run = Buffer.alloc(3 * 1024 * 1024);
  writeFileSync(file, Buffer.concat([Buffer.from("one\n"), run, Buffer.from("two\nth\0ree\r\0\n\0\n"), run]));
  const { texts, skipped, cursor } = await readAll(null);
  expect({ texts, skipped }).toEqual({ texts: ["one", "two", "three"], skipped: 0 });
  appendFileSync(file, "four\n");
  expect((await readAll(cursor)).texts).toEqual(["four"]);
});

test("characters are whole wherever a chunk ends", async () => {
  const lines = ["äöü", "€€€€", "🦉🦉🦉", "plain", "漢字かな"];
  writeFileSync(file, `${lines.join("\n")}\n`);
  for (let mostBytes = 1; mostBytes < 60; mostBytes += 1) {
    const { texts, ends } = await readAll(null, { mostBytes });
    expect(texts).toEqual(lines);
    expect(ends.at(-1)).toBe(statSync(file).size);
  }
});

describe("a line over the cap", () => {
  const limits = { mostBytes: 16, longestLine: 50 };

  test("in the middle is skipped, counted once, and the next ones come", async () => {
    writeFileSync(file, `one\n${"x".repeat(51)}\ntwo\n${"y".repeat(50)}\n${"z".repeat(500)}\nthree\n`);
    for (const mostBytes of [1, 16, 51, 60, 10_000]) {
      const { texts, skipped } = await readAll(null, { ...limits, mostBytes });
      expect({ texts, skipped }).toEqual({ texts: ["one", "two", "y".repeat(50), "three"], skipped: 2 });
    }
  });

  test("at the end is counted as soon as it is one, and what follows its newline comes", async () => {
    writeFileSync(file, `one\n${"x".repeat(50)}`);
    const before = await readAll(null, limits);
    expect(before).toMatchObject({ texts: ["one"], skipped: 0, cursor: { offset: 4, isInLongLine: false } });
    appendFileSync(file, "x");
    const inside = await readAll(before.cursor, limits);
    expect(inside).toMatchObject({ texts: [], skipped: 1, cursor: { offset: 55, isInLongLine: true } });
    appendFileSync(file, "x".repeat(300));
    const further = await readAll(inside.cursor, limits);
    expect(further).toMatchObject({ texts: [], skipped: 0, cursor: { offset: 355, isInLongLine: true } });
    appendFileSync(file, "x\ntwo\n");
    const after = await readAll(further.cursor, limits);
    expect(after).toMatchObject({ texts: ["two"], skipped: 0, cursor: { offset: 361, isInLongLine: false } });
  });

  test("is passed a chunk at a time, with the limits of a daemon", async () => {
    const MiB = 1024 ** 2;
    writeFileSync(file, "");
    truncateSync(file, 20 * MiB);
    appendFileSync(file, "\nnext\n");
    const steps = [await read(null)];
    for (let last = steps[0]; last?.hasMore === true; last = steps.at(-1)) steps.push(await read(last.cursor));
    expect(steps.map(({ cursor, skippedLines }) => [cursor?.offset, skippedLines])).toEqual([
      [4 * MiB + 1, 1],
      ...Array.from({ length: 16 }, (_, index) => [(5 + index) * MiB + 1, 0]),
      [20 * MiB + 6, 0],
    ]);
    expect(steps.flatMap(({ lines }) => lines)).toEqual([{ text: "next", end: 20 * MiB + 6 }]);
  });
});

describe("a file that is another one than before", () => {
  const before = '{"n":1}\n{"n":2}\n{"n":3}\n';
  let cursor: LineCursor | null;
  beforeEach(async () => {
    writeFileSync(file, before);
    ({ cursor } = await readAll(null));
  });

  /** Said once, read from its beginning, and from there on as any other. */
  async function expectReplaced(texts: readonly string[]): Promise<void> {
    const anew = await readAll(cursor, { mostBytes: 10 });
    expect(anew).toMatchObject({ texts, replacements: 1, skipped: 0 });
    appendFileSync(file, "more\n");
    expect(await readAll(anew.cursor)).toMatchObject({ texts: ["more"], replacements: 0 });
  }

  test("truncated to nothing", async () => {
    truncateSync(file, 0);
    await expectReplaced([]);
  });

  test("truncated within what was read", async () => {
    truncateSync(file, 16);
    await expectReplaced(['{"n":1}', '{"n":2}']);
  });

  test("truncated and grown again beyond the cursor", async () => {
    writeFileSync(file, '{"m":1}\n{"m":2}\n{"m":3}\n{"m":4}\n');
    await expectReplaced(['{"m":1}', '{"m":2}', '{"m":3}', '{"m":4}']);
  });

  test("rewritten to the same size", async () => {
    writeFileSync(file, before.replace("3", "4"));
    await expectReplaced(['{"n":1}', '{"n":2}', '{"n":4}']);
  });

  test("replaced by a rename, by one with the same beginning", async () => {
    writeFileSync(`${file}.new`, `${before}four\n`);
    renameSync(`${file}.new`, file);
    await expectReplaced(['{"n":1}', '{"n":2}', '{"n":3}', "four"]);
  });

  test("removed and made again, whether or not the inode is the same", async () => {
    rmSync(file);
    writeFileSync(file, '{"m":1}\n{"m":2}\n{"m":3}\n{"m":4}\n');
    await expectReplaced(['{"m":1}', '{"m":2}', '{"m":3}', '{"m":4}']);
  });

  test("replaced by one that is empty at first: only when something is in it", async () => {
    renameSync(file, `${file}.old`);
    writeFileSync(file, "");
    expect(await read(cursor)).toEqual({ lines: [], skippedLines: 0, cursor, wasReplaced: false, hasMore: false });
    writeFileSync(file, before);
    await expectReplaced(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  test("rotated: its rest is there under its new name, the new one is read from its beginning", async () => {
    appendFileSync(file, "last before\n");
    renameSync(file, `${file}.1`);
    writeFileSync(file, "first after\n");
    expect(await readAll(cursor, {}, `${file}.1`)).toMatchObject({ texts: ["last before"], replacements: 0 });
    await expectReplaced(["first after"]);
  });

  test("while a long line was being skipped", async () => {
    writeFileSync(file, "x".repeat(100));
    ({ cursor } = await readAll(null, { longestLine: 50 }));
    expect(cursor).toMatchObject({ offset: 100, isInLongLine: true });
    writeFileSync(file, `one\ntwo\n${"y".repeat(100)}\n`);
    await expectReplaced(["one", "two", "y".repeat(100)]);
  });

  test("not: one of which nothing had been consumed", async () => {
    writeFileSync(file, "torn");
    ({ cursor } = await readAll(null));
    rmSync(file);
    writeFileSync(`${file}.new`, "whole\n");
    renameSync(`${file}.new`, file);
    expect(await readAll(cursor)).toMatchObject({ texts: ["whole"], replacements: 0 });
  });
});

test("missing, then appearing, then away for a while", async () => {
  const missing = { lines: [], skippedLines: 0, wasReplaced: false, hasMore: false };
  expect(await read(null)).toEqual({ ...missing, cursor: null });
  expect(await read(null, {}, join(file, "below"))).toEqual({ ...missing, cursor: null });
  writeFileSync(file, "");
  const empty = await read(null);
  expect(empty).toMatchObject({ ...missing, cursor: { offset: 0 } });
  appendFileSync(file, "one\n");
  const { cursor, texts } = await readAll(empty.cursor);
  expect(texts).toEqual(["one"]);
  renameSync(file, `${file}.away`);
  expect(await read(cursor)).toEqual({ ...missing, cursor });
  renameSync(`${file}.away`, file);
  appendFileSync(file, "two\n");
  expect(await readAll(cursor)).toMatchObject({ texts: ["two"], replacements: 0 });
});

test("links are followed; one that leads nowhere is a missing file", async () => {
  const link = join(directory, "link");
  symlinkSync(file, link);
  expect(await read(null, {}, link)).toMatchObject({ lines: [], cursor: null });
  writeFileSync(file, "one\n");
  expect((await readAll(null, {}, link)).texts).toEqual(["one"]);
});

test("what is not a regular file is refused with a sentence, and never waited for", async () => {
  const fifo = join(directory, "fifo");
  execFileSync("mkfifo", [fifo]);
  const folder = join(directory, "folder");
  mkdirSync(folder);
  const link = join(directory, "link-to-device");
  symlinkSync("/dev/zero", link);
  const socket = join(directory, "socket");
  const server = createServer().listen(socket);
  await new Promise((resolve) => server.once("listening", resolve));
  for (const path of [fifo, folder, link, socket, "/dev/zero"])
    await expect(read(null, {}, path)).rejects.toThrow(`${path} is not a regular file, so it has no lines to read.`);
  await new Promise((resolve) => server.close(resolve));
});

test("the same as a naive reading, for any contents written and read in any pieces", async () => {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => Buffer.from(text)) },
    { weight: 3, arbitrary: fc.constantFrom("\n", "\r\n", "\n\n").map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.nat(30).map((length) => Buffer.alloc(length)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)) },
  );
  const contents = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.concat(pieces));
  const cuts = fc.array(fc.record({ write: fc.nat(60), mostBytes: fc.integer({ min: 1, max: 80 }) }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(contents, cuts, fc.integer({ min: 0, max: 60 }), async (bytes, steps, longestLine) => {
      writeFileSync(file, "");
      let cursor: LineCursor | null = null;
      let written = 0;
      let skipped = 0;
      const seen: { readonly text: string; readonly end: number }[] = [];
      for (const { write, mostBytes } of [...steps, { write: bytes.length, mostBytes: 50 }]) {
        appendFileSync(file, bytes.subarray(written, written + write));
        written = Math.min(bytes.length, written + write);
        const total = await readAll(cursor, { mostBytes, longestLine });
        expect(total.replacements).toBe(0);
        seen.push(...total.texts.map((text, index) => ({ text, end: total.ends[index] ?? -1 })));
        skipped += total.skipped;
        cursor = total.cursor;
      }
      expect({ seen, skipped }).toEqual(naively(readFileSync(file), longestLine));
    }),
    { numRuns: 100 },
  );
});

function naively(bytes: Buffer, longestLine: number): { readonly seen: readonly object[]; readonly skipped: number } {
  // One character per byte, so that offsets are indices.
  const raw = bytes.toString("latin1").split("\n");
  const seen: object[] = [];
  let skipped = 0;
  let end = 0;
  raw.forEach((line, index) => {
    end += line.length + 1;
    if (line.length > longestLine) skipped += 1;
    else if (index < raw.length - 1) {
      const kept = Buffer.from(line.replaceAll("\0", ""), "latin1").toString("utf8").replace(/\r$/, "");
      if (kept !== "") seen.push({ text: kept, end });
    }
  });
  return { seen, skipped };
}
