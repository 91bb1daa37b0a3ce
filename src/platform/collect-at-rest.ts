/**
 * Gives back the memory that a burst of work leaves behind. V8 collects when it
 * needs room, and a daemon at rest needs none: without this, what a hundred
 * starts or one large request left stays for hours.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "./clock.ts";

const LOOK_MS = 10_000;
/** Of a core, since the look before. Looking after 1,000 sessions takes 1 %; whoever waits for work to end must not wait for this. */
const REST_SHARE = 0.03;
/** Worth the 20 to 40 ms that it takes, and more than comes together at rest between two small collections. */
const LEAST_BYTES = 6 * 1024 * 1024;

export interface Heap {
  /** Of the whole process, so far. */
  cpuMs(): number;
  /** What is alive and what nobody has collected yet. */
  bytes(): number;
  collect(): void;
}

export function collectAtRest(clock: Pick<Clock, "after">, heap: Heap = ownHeap): void {
  let kept = 0;
  let cpuMs = heap.cpuMs();
  const look = (): void => {
    const now = heap.cpuMs();
    const isAtRest = now - cpuMs < LOOK_MS * REST_SHARE;
    kept = Math.min(kept, heap.bytes());
    if (isAtRest && heap.bytes() - kept >= LEAST_BYTES) {
      heap.collect();
      kept = heap.bytes();
    }
    cpuMs = heap.cpuMs();
    clock.after(LOOK_MS, look);
  };
  clock.after(LOOK_MS, look);
}

export const ownHeap: Heap = {
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  bytes() {
    const { used_heap_size: used, external_memory: external } = getHeapStatistics();
    return used + external;
  },
  collect() {
    // For a moment only: V8 takes no code that was compiled with other flags, and the kept code would be of no use.
    setFlagsFromString("--expose-gc");
    const collect: unknown = runInNewContext("gc");
    setFlagsFromString("--no-expose-gc");
    // Not the plain one: V8 would keep the pages.
    if (typeof collect === "function") collect({ type: "major", flavor: "last-resort" });
  },
};
