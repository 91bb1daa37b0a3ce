/**
 * Keeps a few file descriptors back for work that must succeed when they run
 * out, and counts how many there are. Only for work that ends before it
 * returns: the descriptors must be there again for the next.
 */
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { errnoOf } from "./reeve-error.ts";

const NOTHING = "/dev/null";
/** Each is used for microseconds; more than one, because Node's threads may take one in between. */
const RESERVED = 4;

const held: number[] = [];
let isReserving = false;

/** From now on a few are held back. Opened early, they have low numbers, which also a limit lowered later leaves usable. */
export function reserveDescriptors(): void {
  isReserving = true;
  refill();
}

/** Does what needs a descriptor for a moment, with one of those held back where no other is left. */
export function withDescriptor<T>(work: () => T): T {
  if (isReserving && held.length < RESERVED) refill();
  for (;;) {
    try {
      return work();
    } catch (error) {
      const given = isExhaustion(error) ? held.pop() : undefined;
      if (given === undefined) throw error;
      closeSync(given);
    }
  }
}

/** As `ulimit -n` says it now; it may change while we run. */
export function descriptorLimit(): number {
  const limits = withDescriptor(() => readFileSync("/proc/self/limits", "utf8"));
  const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** How many are in use, those that are held back among them. */
export function descriptorsInUse(): number {
  const listed = withDescriptor(() => readdirSync("/proc/self/fd"));
  return listed.length - 1; // the listing itself
}

function refill(): void {
  try {
    while (held.length < RESERVED) held.push(openSync(NOTHING, "r"));
  } catch (error) {
    if (!isExhaustion(error)) throw error;
  }
}

/** This process has no more, or the whole machine has none. */
function isExhaustion(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "EMFILE" || errno === "ENFILE";
}
