/** Calls something whose failure must not harm its caller: the error is logged, and the caller goes on. */
import type { Log } from "./log.ts";

export function isolated(log: Log, what: string, fields: object, work: () => void): void {
  try {
    work();
  } catch (error) {
    log(`${what} failed`, { ...fields, why: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

/** Waits for all of them, whatever becomes of each. */
export async function eachIsolated(log: Log, what: string, works: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(works))
    if (outcome.status === "rejected") log(`${what} failed`, { why: outcome.reason as unknown });
}
