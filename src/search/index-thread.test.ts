/** The thread of the index: it ends when nothing is asked of it, and is there again when something is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../test/support/test-clock.ts";
import { createIndexThread, type SearchIndex } from "./index-thread.ts";

let directory: string;
let clock: TestClock;
let index: SearchIndex;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-thread-"));
  clock = makeTestClock();
  index = createIndexThread(join(directory, "search.db"), clock);
});
afterEach(async () => {
  await index.close();
  rmSync(directory, { recursive: true, force: true });
});

test("it ends after a while without work, and goes on with the same index", async () => {
  const { epoch } = await index.state();
  expect(clock.waiting()).toEqual([10_000]);
  await clock.advance(10_000);
  expect(clock.waiting()).toEqual([]);
  // Asked while the one before may still be ending.
  const states = await Promise.all([index.state(), index.state()]);
  expect(states.map((state) => state.epoch)).toEqual([epoch, epoch]);
  expect(clock.waiting()).toEqual([10_000]);
});

test("an error of one question is its own", async () => {
  const [refused, state] = await Promise.allSettled([index.write({ epoch: "another", entries: [] }), index.state()]);
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "index-rebuilt" } });
  expect(state.status).toBe("fulfilled");
});
