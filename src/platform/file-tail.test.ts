import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { readTail } from "./file-tail.ts";

const directory = mkdtempSync("/tmp/reeve-tail-");
const file = join(directory, "lines");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("complete lines from the end, never the one being written", async () => {
  writeFileSync(file, "one\ntwo\nthree\nhalf a li");
  expect(await readTail(file, { bytes: 1_000, since: null })).toEqual({
    lines: ["one", "two", "three"],
    truncated: false,
    end: 14,
  });
  expect(await readTail(file, { bytes: 16, since: null })).toEqual({ lines: ["three"], truncated: true, end: 14 });
});

test("from a cursor on, and all of a file that was replaced by a shorter one", async () => {
  writeFileSync(file, "one\ntwo\n");
  const { end } = await readTail(file, { bytes: 1_000, since: null });
  appendFileSync(file, "three\n");
  expect(await readTail(file, { bytes: 1_000, since: end })).toEqual({ lines: ["three"], truncated: false, end: 14 });
  writeFileSync(file, "new\n");
  expect(await readTail(file, { bytes: 1_000, since: end })).toEqual({ lines: ["new"], truncated: false, end: 4 });
});

test("read in steps with the cursor, every line comes exactly once", async () => {
  const line = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !text.includes("\n"));
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
