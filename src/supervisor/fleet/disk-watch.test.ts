import { expect, test } from "vitest";
import { makeTestClock } from "../../../test/support/test-clock.ts";
import { createScheduler } from "../ledger/scheduler.ts";
import { createDiskWatch } from "./disk-watch.ts";

test("one disk is one condition, however many directories are on it; what cannot be read keeps what was known", async () => {
  const clock = makeTestClock();
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const scheduler = createScheduler({ clock, log, observe: async () => undefined });
  let bytes: number | null = 5;
  let looks = 0;
  const watch = createDiskWatch({
    directories: ["/outputs", "/database"],
    clock,
    scheduler,
    log,
    onLook: () => void looks++,
    room: async () => {
      if (bytes === null) throw new Error("the disk is gone");
      return { device: 1, bytes, totalBytes: 10 ** 9, isFull: false };
    },
  });
  expect(watch.conditions()).toBeNull();
  watch.start();
  await clock.advance(1);
  expect(watch.conditions()).toMatchObject([{ condition: { kind: "disk" } }]);
  bytes = null;
  await clock.advance(60_000);
  expect([looks, watch.conditions()?.length, logged.length]).toEqual([2, 1, 2]);
  bytes = 10 ** 9;
  await clock.advance(60_000);
  expect(watch.conditions()).toEqual([]);
  scheduler.close();
});
