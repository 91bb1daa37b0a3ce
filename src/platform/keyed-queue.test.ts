/** One queue for the ledger and for a runtime's places. */
import { expect, test } from "vitest";
import { createKeyedQueue } from "./keyed-queue.ts";

test("work with one key waits for the work before it, also when that fails; other keys do not wait", async () => {
  const queue = createKeyedQueue();
  const story: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run("a", async () => {
    story.push("a1 begins");
    await gate.promise;
    story.push("a1 fails");
    throw new Error("on purpose");
  });
  const second = queue.run("a", async () => void story.push("a2"));
  await queue.run("b", async () => void story.push("b"));
  gate.resolve();
  await expect(first).rejects.toThrow("on purpose");
  await second;
  await queue.idle();
  expect(story).toEqual(["a1 begins", "b", "a1 fails", "a2"]);
});
