/**
 * Removes old events, oldest first, a few hundred in a commit. Those that
 * something open still needs stay:
 *
 *   - what a living session is still to be woken for;
 *   - of each living session the newest thousand, whatever their age;
 *   - what a notification channel has not told yet, and all after it.
 */
import { INBOX_EVENTS, outboxKind } from "../../fleet/outbox.ts";
import { KEPT_EVENTS_OF_LIVING } from "../../fleet/retention.ts";
import type { RetentionSettings } from "../../fleet/retention-settings.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { removeEvents } from "../../store/change.ts";
import type { EventPlace, Store } from "../../store/contract.ts";
import type { Surroundings } from "./session-facts.ts";

/** Removed in some 5 ms. */
const AT_ONCE = 250;

export interface OldEvents {
  readonly count: number;
  /** The newest of them; 0: there are none. */
  readonly through: number;
}

/** How many there are that go; with `remove` they are gone then. */
export async function oldEvents(
  store: Store,
  { due }: Surroundings,
  settings: RetentionSettings,
  run: { readonly now: number; readonly remove: boolean; pause(): Promise<boolean> },
): Promise<OldEvents> {
  const { log, registry } = store;
  const untold = await firstUntold(store);
  const needed = new Set(due.map(({ seq }) => seq));
  const from = new Map(registry.living().map(({ id }) => [id, log.newestFrom(id, KEPT_EVENTS_OF_LIVING)]));
  const tooMany = log.head() - settings.events;
  const isOld = ({ seq, at }: EventPlace): boolean =>
    seq < untold && (seq <= tooMany || at <= run.now - settings.eventsMs);
  const isNeeded = ({ seq, sessionId }: EventPlace): boolean =>
    needed.has(seq) || (sessionId !== null && seq > (from.get(sessionId) ?? Infinity));
  let count = 0;
  let through = 0;
  for (let after = 0; ;) {
    const page = await log.places({ after, limit: AT_ONCE });
    const old = page.filter(isOld);
    const going = old.filter((event) => !isNeeded(event)).map(({ seq }) => seq);
    if (going.length > 0) {
      count += going.length;
      through = going.at(-1) ?? through;
      if (run.remove) {
        await store.commit({ changes: [removeEvents(going)] });
        failpoint("prune.after-events");
      }
    }
    after = page.at(-1)?.seq ?? after;
    // They are in the order in which they happened: behind a page without an old one there is hardly another.
    if (old.length === 0 || !(await run.pause())) return { count, through };
  }
}

/** The first event that a notification channel has still to tell. A channel gives up after a day, so this passes. */
async function firstUntold(store: Store): Promise<number> {
  let first = Infinity;
  for (const { cursor, sending } of await store.records(outboxKind).list()) {
    const [next] = await store.log.read({ after: cursor, limit: 1, types: INBOX_EVENTS });
    first = Math.min(first, next?.seq ?? Infinity, ...(sending?.items ?? []).map(({ seq }) => seq));
  }
  return first;
}
