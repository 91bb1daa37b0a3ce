/**
 * Mail for a receiver at random, from seeds: notes and hand-offs come, some are
 * read, the receiver works, rests and is restarted, and the daemon is killed.
 * Each mail is told once, a hand-off that stays unread once more to each
 * process of the receiver, and none is forgotten.
 */
import { expect, test } from "vitest";
import { createRandom } from "../../../test/truth/random.ts";
import { makeWakerGround } from "./waker-fixture.ts";

interface Known {
  readonly kind: "note" | "hand-off";
  /** The incarnation of the receiver that was told last; 0: none was. */
  toldTo: number;
}

test.each(Array.from({ length: 15 }, (_, index) => `seed ${index}`))("mail and wakes, %s", async (seed) => {
  const random = createRandom(seed);
  const ground = await makeWakerGround([]);
  const unread = new Map<string, Known>();
  const admitted = new Map<string, readonly Known[]>();
  let written = 0;
  const due = (): readonly Known[] => {
    const { incarnation } = ground.boss().process;
    return [...unread.values()].filter(
      ({ kind, toldTo }) => toldTo === 0 || (kind === "hand-off" && toldTo < incarnation),
    );
  };
  const look = (): void => {
    const { open } = ground.boss().wakes;
    if (open === null || admitted.has(open.messageId)) return;
    admitted.set(open.messageId, due());
    expect(open.count).toBe(due().length);
  };
  const deliver = async (outcome: "delivered" | "refused"): Promise<void> => {
    const { open } = ground.boss().wakes;
    if (open === null) return;
    await ground.settle(outcome);
    const { incarnation } = ground.boss().process;
    if (outcome === "delivered") for (const mail of admitted.get(open.messageId) ?? []) mail.toldTo = incarnation;
  };
  try {
    for (let step = 0; step < 50; step++) {
      switch (random.int(0, 7)) {
        case 0:
        case 1: {
          const kind = random.pick(["note", "hand-off"] as const);
          const id = `mail-${++written}`;
          await ground.mail(id, kind);
          unread.set(id, { kind, toldTo: 0 });
          break;
        }
        case 2: {
          // It reads in a turn of its own, so nothing is typed meanwhile.
          if (unread.size === 0 || !ground.boss().conversation.turnOpen) break;
          const id = random.pick([...unread.keys()]);
          await ground.readMail(id);
          unread.delete(id);
          break;
        }
        case 3:
          await ground.setBusy(random.chance(0.5));
          break;
        case 4:
          if (ground.open() !== undefined) await deliver(random.pick(["delivered", "delivered", "refused"]));
          break;
        case 5:
          if (ground.open() === undefined) await ground.rebirth();
          break;
        case 6:
          await ground.restart();
          break;
        default:
          await ground.clock.advance(random.int(1, 2_000));
      }
      await ground.clock.advance(1);
      await ground.ledger().idle();
      look();
    }
    await ground.setBusy(false);
    for (let round = 0; round < 3; round++) {
      await ground.clock.advance(31_000);
      await ground.settled();
      look();
      await deliver("delivered");
    }
    expect(due()).toEqual([]);
    await ground.settled();
    expect(ground.open()).toBeUndefined();
  } finally {
    await ground.dispose();
  }
});
