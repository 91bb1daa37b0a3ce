/** The process of the index: it ends when nothing is asked of it, and is there again when something is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../test/support/test-clock.ts";
import { isDead, listProcesses } from "../platform/process-table.ts";
import { createIndexProcess, type SearchIndex } from "./index-process.ts";

let directory: string;
let clock: TestClock;
let index: SearchIndex;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-index-"));
  clock = makeTestClock();
  index = createIndexProcess(join(directory, "search.db"), clock);
});
afterEach(async () => {
  await index.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Those of our own that live: nothing else in this file starts any. */
function processes(): readonly number[] {
  return listProcesses()
    .filter((row) => row.ppid === process.pid && !isDead(row))
    .map(({ pid }) => pid);
}

test("it ends after a while without work, and goes on with the same index", async () => {
  const { epoch } = await index.state();
  expect(clock.waiting()).toEqual([10_000]);
  await clock.advance(10_000);
  expect(clock.waiting()).toEqual([]);
  await eventually("it is gone", () => processes().length === 0);
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

test("killed, it says so to whoever waits, and the next question starts another", async () => {
  const { epoch } = await index.state();
  const [pid] = processes();
  process.kill(pid ?? 0, "SIGSTOP");
  const asked = index.state();
  process.kill(pid ?? 0, "SIGKILL");
  await expect(asked).rejects.toMatchObject({ code: "search-unavailable", kind: "unavailable" });
  expect((await index.state()).epoch).toBe(epoch);
  expect(processes()).toHaveLength(1);
});
