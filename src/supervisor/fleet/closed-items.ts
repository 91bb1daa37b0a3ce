/** Items of the inbox that are over: the last of them are kept, so that their numbers can be explained; the log has all. */
import { CLOSED, type InboxItem, inboxKind } from "../../fleet/inbox.ts";
import type { Store } from "../../store/contract.ts";

/** A few weeks of a busy home. */
export const MOST_CLOSED = 1_000;
/** Removed in one commit. */
const AT_ONCE = 100;

/** The last that were opened, newest first. */
export async function lastClosed(store: Store, limit: number): Promise<readonly InboxItem[]> {
  return (await store.records(inboxKind).page({ group: CLOSED, limit })).map(({ record }) => record);
}

export async function forgetOldest(store: Store, most: number = MOST_CLOSED): Promise<void> {
  const records = store.records(inboxKind);
  const before = (await records.page({ group: CLOSED, limit: most })).at(most - 1)?.place;
  if (before === undefined) return;
  for (;;) {
    const old = await records.page({ group: CLOSED, before, limit: AT_ONCE });
    if (old.length === 0) return;
    await store.commit({ changes: old.map(({ record }) => inboxKind.remove(record)) });
  }
}
