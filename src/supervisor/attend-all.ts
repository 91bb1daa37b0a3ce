/** After a start of the daemon: takes up what is watched and kept of the sessions that it found. */
import { isolated } from "../platform/isolated.ts";
import type { Log } from "../platform/log.ts";
import type { Store } from "../store/contract.ts";
import type { Attention } from "./attention/attention.ts";
import type { Persistence } from "./persistence/persistence.ts";

/** A few at a time, so that requests are answered in between. */
export async function attendAll(
  ids: readonly string[],
  {
    store,
    attention,
    persistence,
    log,
  }: {
    readonly store: Store;
    readonly attention: Pick<Attention, "attend" | "catchUp">;
    readonly persistence: Pick<Persistence, "attend">;
    readonly log: Log;
  },
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    const session = store.registry.get(id);
    if (session === undefined) continue;
    isolated(log, "watching an adopted session", { session: id }, () => {
      attention.attend(session);
      attention.catchUp(session);
      persistence.attend(session);
    });
  }
}
