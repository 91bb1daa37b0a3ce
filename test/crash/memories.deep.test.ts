/** A thousand memories written by four at once while the daemon is killed at random moments: none is lost, none doubled. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { operatorOf } from "../support/session-caller.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { createRandom } from "../truth/random.ts";

const WRITES = 1_000;
const WRITERS = 4;
const KILLS = 10;
const SEED = process.env["REEVE_TEST_SEED"] ?? String(Date.now());

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

test(`${WRITES} writes and ${KILLS} kills of the daemon (REEVE_TEST_SEED=${SEED})`, { timeout: 300_000 }, async () => {
  const { int } = createRandom(SEED);
  const caller = operatorOf(home, { enduranceMs: 120_000 });
  const ids = new Map<string, string>();
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < WRITES) {
      const text = `entry number${(next += 1)} about parsers`;
      const { memory_id } = await caller.addMemory({ text, cwd: home.dir });
      ids.set(memory_id, text);
    }
  };
  const kill = async (): Promise<void> => {
    for (let kills = 0; kills < KILLS; kills += 1) {
      // The writes between two kills, so that each of them meets some.
      const enough = Math.min(WRITES, next + Math.floor(WRITES / (KILLS + 1)));
      await eventually("more are written", () => next >= enough, 60_000);
      await sleep(int(0, 20));
      await home.killDaemon();
    }
  };
  await Promise.all([...Array.from({ length: WRITERS }, write), kill()]);

  expect(ids.size).toBe(WRITES);
  const kept = new Map<string, string>();
  for (let page: string | undefined; ;) {
    const listed = await caller.listMemories({ cwd: home.dir, limit: 200, ...(page === undefined ? {} : { page }) });
    for (const { memory_id, text } of listed.memories) {
      expect(kept.has(memory_id)).toBe(false);
      kept.set(memory_id, text);
    }
    if (listed.next_page === null) break;
    page = listed.next_page;
  }
  expect(kept).toEqual(ids);
});
