import { describe, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { makeTestClock } from "../../test/support/test-clock.ts";
import { collectAtRest, ownHeap } from "./collect-at-rest.ts";

const MIB = 1024 * 1024;

function start() {
  const clock = makeTestClock();
  const state = { cpuMs: 0, bytes: 12 * MIB, alive: 10 * MIB, collections: 0 };
  collectAtRest(clock, {
    cpuMs: () => state.cpuMs,
    bytes: () => state.bytes,
    collect() {
      state.collections += 1;
      state.bytes = state.alive;
    },
  });
  return { clock, state };
}

describe("collecting at rest", () => {
  it("happens once after a start, and again only when much has come together", async () => {
    const { clock, state } = start();
    await clock.advance(10_000);
    expect(state).toMatchObject({ collections: 1, bytes: state.alive });
    state.bytes += 5 * MIB;
    await clock.advance(60_000);
    expect(state.collections).toBe(1);
    state.bytes += 2 * MIB;
    await clock.advance(10_000);
    expect(state.collections).toBe(2);
  });

  it("waits until the work has ended", async () => {
    const { clock, state } = start();
    for (let look = 0; look < 3; look += 1) {
      state.cpuMs += 2_000;
      await clock.advance(10_000);
    }
    expect(state.collections).toBe(0);
    state.cpuMs += 100;
    await clock.advance(10_000);
    expect(state.collections).toBe(1);
  });

  it("counts what V8 itself has given back as given back", async () => {
    const { clock, state } = start();
    state.alive = 40 * MIB;
    state.bytes = 40 * MIB;
    await clock.advance(10_000);
    state.bytes = 10 * MIB;
    await clock.advance(10_000);
    state.bytes = 17 * MIB;
    await clock.advance(10_000);
    expect(state.collections).toBe(2);
  });

  it("frees what nobody holds", async () => {
    ownHeap.collect();
    const before = ownHeap.bytes();
    expect(bytesWith(64) - before).toBeGreaterThan(60 * MIB);
    ownHeap.collect();
    // V8 frees the bytes of buffers in a thread of its own.
    await eventually("they are free", () => ownHeap.bytes() - before < 16 * MIB);
  });
});

/** While so many megabytes are held, which they are no longer when it returns. */
function bytesWith(megabytes: number): number {
  const held = Array.from({ length: megabytes }, () => Buffer.alloc(MIB));
  return held.length === megabytes ? ownHeap.bytes() : 0;
}
