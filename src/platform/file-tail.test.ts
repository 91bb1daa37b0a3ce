import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { readTail } from "./file-tail.ts";

const directory = mkdtempSync(join(tmpdir(), "reeve-tail-"));
const file = join(directory, "lines");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const MIB = 1024 * 1024;

test("complete lines from the end, never the one being written", async () => {
  writeFileSync(file, "one\ntwo\nthree\nhalf a li");
  expect(await readTail(file, { bytes: 1_000, since: null })).toEqual({
    lines: ["one", "two", "three"],
    truncated: false,
    start: 0,
    end: 14,
  });
  const three = { lines: ["three"], truncated: true, start: 8, end: 14 };
  expect(await readTail(file, { bytes: 16, since: null })).toEqual(three);
  // It begins exactly where the tail does.
  expect(await readTail(file, { bytes: 15, since: null })).toEqual(three);
});

test("from a cursor on, and all of a file that was replaced by a shorter one", async () => {
  writeFileSync(file, "one\ntwo\n");
  const { end } = await readTail(file, { bytes: 1_000, since: null });
  appendFileSync(file, "three\n");
  expect(await readTail(file, { bytes: 1_000, since: end })).toEqual({
    lines: ["three"],
    truncated: false,
    start: 8,
    end: 14,
  });
  expect(await readTail(file, { bytes: 1_000, since: 14 })).toEqual({
    lines: [],
    truncated: false,
    start: 14,
    end: 14,
  });
  writeFileSync(file, "new\n");
  expect(await readTail(file, { bytes: 1_000, since: end })).toEqual({
    lines: ["new"],
    truncated: false,
    start: 0,
    end: 4,
  });
});

test("read in steps with the cursor, every line comes exactly once", async () => {
  const line = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !/[\n\0]/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(line, { maxLength: 5 }), { maxLength: 6 }), async (batches) => {
      writeFileSync(file, "");
      let since = 0;
      const seen: string[] = [];
      for (const batch of batches) {
        appendFileSync(file, batch.map((text) => `${text}\n`).join(""));
        const tail = await readTail(file, { bytes: 10_000, since });
        seen.push(...tail.lines);
        since = tail.end;
      }
      expect(seen).toEqual(batches.flat());
    }),
    { numRuns: 50 },
  );
});

test.each([
  ["one that ends the file", 100_000, ""],
  ["one before a line that is being written", 100_000, "x".repeat(90_000)],
  ["one of almost all that is looked at", 4 * MIB - 10, ""],
])("the newest line comes although it is longer than the tail: %s", async (_, length, rest) => {
  const long = "é".repeat(length / 2);
  writeFileSync(file, `first\nsecond\n${long}\n${rest}`);
  expect(await readTail(file, { bytes: 48, since: null })).toEqual({
    lines: [long],
    truncated: true,
    start: 13,
    end: 14 + length,
  });
  // With the cursor just before it, nothing was left out.
  expect(await readTail(file, { bytes: 48, since: 13 })).toMatchObject({ truncated: false, start: 13 });
});

test("only the newest of several that are longer than the tail", async () => {
  writeFileSync(file, `${"a".repeat(5_000)}\n${"b".repeat(5_000)}\n`);
  const { lines, start } = await readTail(file, { bytes: 100, since: null });
  expect({ lines, start }).toEqual({ lines: ["b".repeat(5_000)], start: 5_001 });
});

test("a line over the cap is passed over, and the cursor is never inside a line", async () => {
  writeFileSync(file, `first\n${"x".repeat(5 * MIB)}\n`);
  const end = 5 * MIB + 7;
  expect(await readTail(file, { bytes: 48, since: null })).toEqual({ lines: [], truncated: true, start: end, end });
  appendFileSync(file, "next\n");
  expect(await readTail(file, { bytes: 48, since: end })).toMatchObject({ lines: ["next"], truncated: false });
  // Being written still.
  writeFileSync(file, `first\n${"x".repeat(5 * MIB)}`);
  expect(await readTail(file, { bytes: 48, since: 6 })).toEqual({ lines: [], truncated: true, start: 6, end: 6 });
});

test("the same as a naive reading, for any contents, tail and cursor", async () => {
  const contents = fc
    .array(fc.constantFrom("\n", "a", "€", "bcdefgh"), { maxLength: 40 })
    .map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(contents, fc.integer({ min: 1, max: 60 }), fc.nat(5), async (text, bytes, skipped) => {
      writeFileSync(file, text);
      const size = Buffer.byteLength(text);
      let end = 0;
      const all = text
        .split("\n")
        .slice(0, -1)
        .map((line) => {
          const start = end;
          end += Buffer.byteLength(line) + 1;
          return { line, start };
        });
      const since = all[skipped]?.start ?? 0;
      const fresh = all.filter(({ start }) => start >= since);
      const within = fresh.filter(({ start }) => start >= size - bytes);
      const wanted = within.length > 0 ? within : fresh.slice(-1);
      expect(await readTail(file, { bytes, since })).toEqual({
        lines: wanted.map(({ line }) => line),
        truncated: wanted.length < fresh.length,
        start: wanted[0]?.start ?? end,
        end,
      });
    }),
    { numRuns: 100 },
  );
});

test("runs of NUL are left out, whatever is glued to them stays", async () => {
  writeFileSync(file, `one\n\0\0\0\0two\nth\0ree\n\0\0`);
  expect(await readTail(file, { bytes: 1_000, since: null })).toEqual({
    lines: ["one", "two", "three"],
    truncated: false,
    start: 0,
    end: 19,
  });
});

test("what is not a regular file is refused, and never waited for", async () => {
  const fifo = join(directory, "fifo");
  execFileSync("mkfifo", [fifo]);
  for (const path of [fifo, directory, "/dev/null"])
    await expect(readTail(path, { bytes: 10, since: null })).rejects.toThrow(`${path} is not a regular file`);
});
