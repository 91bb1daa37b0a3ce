/**
 * Takes out of the index what was removed from the home: it compares the two, so
 * it does not matter who removed what, and when the daemon died meanwhile.
 */
import { mailKind } from "../../fleet/mail.ts";
import type { Store } from "../../store/contract.ts";
import type { SearchIndex } from "../../search/index-process.ts";

const AT_ONCE = 200;

interface Parts {
  readonly store: Store;
  readonly index: SearchIndex;
  readonly pause: () => Promise<boolean>;
}

export async function forgetRemoved(
  { store, index, pause }: Parts,
  { sessionIds, isPruned }: { readonly sessionIds: readonly string[]; readonly isPruned: boolean },
): Promise<boolean> {
  for (const id of sessionIds) {
    await index.forget(id);
    if (!(await pause())) return false;
  }
  if (!isPruned) return true;
  return (await forgetEvents({ store, index, pause })) && (await forgetMails({ store, index, pause }));
}

async function forgetEvents({ store: { log }, index, pause }: Parts): Promise<boolean> {
  const through = log.prunedThrough();
  for (let after = 0; ;) {
    const known = await index.eventsIn(after, through, AT_ONCE);
    const last = known.at(-1);
    if (last === undefined) break;
    const there = new Set<number>();
    // Those that stay among removed ones may be few or many.
    for (let from = after; from < last;) {
      const page = await log.places({ after: from, limit: AT_ONCE });
      for (const { seq } of page) there.add(seq);
      from = page.at(-1)?.seq ?? last;
    }
    const gone = known.filter((seq) => !there.has(seq));
    if (gone.length > 0) await index.removeEvents(gone);
    after = last;
    if (!(await pause())) return false;
  }
  await index.notePruned(through);
  return true;
}

async function forgetMails({ store, index, pause }: Parts): Promise<boolean> {
  const records = store.records(mailKind);
  for (let after = ""; ;) {
    const known = await index.mailsIn(after, AT_ONCE);
    const last = known.at(-1);
    if (last === undefined) return true;
    const found = await Promise.all(known.map((id) => records.get(id)));
    const gone = known.filter((_id, at) => found[at] === undefined);
    if (gone.length > 0) await index.removeMails(gone);
    after = last;
    if (!(await pause())) return false;
  }
}
