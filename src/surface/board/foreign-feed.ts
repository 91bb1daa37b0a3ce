/** Agents that Reeve did not start, looked for now and then: no event tells of them, and every look reads all processes. */
import type { Client } from "../../client/create-client.ts";
import { systemClock } from "../../platform/clock.ts";
import type { ForeignView } from "../cli/foreign-text.ts";

const EVERY_MS = 30_000;
/** The sessions are shown first. */
const FIRST_MS = 300;

/** Ends when the signal fires. `mayAsk`: whether the daemon is there; a look must not start one that was stopped. */
export async function watchForeign(
  client: Pick<Client, "listForeign">,
  onForeign: (foreign: readonly ForeignView[]) => void,
  mayAsk: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  let known = "[]";
  let waitMs = FIRST_MS;
  while (!signal.aborted) {
    try {
      await systemClock.sleep(waitMs, signal);
      waitMs = mayAsk() ? EVERY_MS : FIRST_MS;
      if (waitMs === FIRST_MS) continue;
      const { foreign } = await client.listForeign({ signal });
      const now = JSON.stringify(foreign);
      if (now !== known) onForeign(foreign);
      known = now;
    } catch {
      // Over, or the daemon is away: the feed of the sessions says so.
    }
  }
}
