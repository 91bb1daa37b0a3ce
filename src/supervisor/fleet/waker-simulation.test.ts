/**
 * A receiver and its workers at random, from seeds: things happen, it works and
 * rests, it waits itself, wakes come out in every way, and the daemon is killed
 * in between. Each event is told at most once by a wake, and none is forgotten
 * once the receiver rests.
 */
import { expect, test } from "vitest";
import { createRandom } from "../../../test/truth/random.ts";
import { exited, makeWakerGround, turnCompleted, type WakerGround } from "./waker-fixture.ts";

const WORKERS = ["a", "b", "c"];

/** What the test knows: which events nobody has told yet, by their numbers. */
type Untold = Map<number, string>;

function forget(untold: Untold, fits: (seq: number, worker: string) => boolean): number {
  const gone = [...untold].filter(([seq, worker]) => fits(seq, worker));
  for (const [seq] of gone) untold.delete(seq);
  return gone.length;
}

/** It counts what was untold when it was admitted, and nothing else. */
function checkAdmitted(ground: WakerGround, untold: Untold, seen: Set<string>): void {
  const { open } = ground.boss().wakes;
  if (open === null || seen.has(open.messageId)) return;
  seen.add(open.messageId);
  const covered = [...untold.keys()].filter((seq) => seq <= open.through);
  expect(open.count, `wake ${open.through}`).toBe(covered.length);
  expect(open.count).toBeGreaterThan(0);
}

test.each(Array.from({ length: 25 }, (_, index) => `seed ${index}`))("wakes, %s", async (seed) => {
  const random = createRandom(seed);
  const ground = await makeWakerGround(WORKERS);
  const untold: Untold = new Map();
  const seen = new Set<string>();
  const deliver = async (outcome: "delivered" | "refused" | "unknown"): Promise<void> => {
    const { open } = ground.boss().wakes;
    if (open === null) return;
    await ground.settle(outcome);
    const isTold = ground.boss().wakes.acknowledged >= open.through;
    if (outcome !== "unknown") expect(isTold, outcome).toBe(outcome === "delivered");
    if (isTold) forget(untold, (seq) => seq <= open.through);
  };
  try {
    for (let step = 0; step < 60; step++) {
      const worker = random.pick(WORKERS);
      switch (random.int(0, 8)) {
        case 0:
        case 1:
        case 2: {
          const bodies = Array.from({ length: random.int(1, 4) }, () => random.pick([turnCompleted, exited]));
          const last = await ground.happen(worker, ...bodies);
          for (let seq = last - bodies.length + 1; seq <= last; seq++) untold.set(seq, worker);
          break;
        }
        case 3:
          await ground.setBusy(random.chance(0.5));
          break;
        case 4:
          if (ground.open() !== undefined) await deliver(random.pick(["delivered", "delivered", "refused", "unknown"]));
          break;
        case 5: {
          // It waited for that one itself, and got everything up to some point; a wake that is typed now may tell it too.
          const own = [...untold].filter(([, name]) => name === worker).map(([seq]) => seq);
          if (own.length === 0 || ground.open()?.state === "leased") break;
          const through = random.pick(own);
          await ground.waker().tell("boss", [{ sessionId: worker, through }]);
          forget(untold, (seq, name) => name === worker && seq <= through);
          break;
        }
        case 6:
          await ground.restart();
          break;
        default:
          await ground.clock.advance(random.int(1, 2_000));
      }
      await ground.clock.advance(1);
      await ground.ledger().idle();
      checkAdmitted(ground, untold, seen);
    }
    await ground.setBusy(false);
    for (let round = 0; round < 4 && (untold.size > 0 || ground.open() !== undefined); round++) {
      await ground.clock.advance(31_000);
      await ground.settled();
      checkAdmitted(ground, untold, seen);
      if (ground.open() !== undefined) await deliver("delivered");
    }
    expect([...untold]).toEqual([]);
    expect(ground.open()).toBeUndefined();
    const sent = await ground.sent();
    for (const [index, { since, through }] of sent.entries()) {
      expect(since).toBeGreaterThanOrEqual(sent[index - 1]?.through ?? 0);
      expect(through).toBeGreaterThan(since);
    }
  } finally {
    await ground.dispose();
  }
});
