/** Checks whether the runtime can hold a session, before anything is recorded. */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";

/** What no second try would get past is refused at once; what may pass is tried, and is told as the session's reason. */
export async function requireReady(runtime: Runtime): Promise<void> {
  try {
    await (runtime.requireStartable ?? runtime.requireReady)();
  } catch (error) {
    if (!(error instanceof ReeveError) || error.kind !== "unavailable") throw error;
  }
}
