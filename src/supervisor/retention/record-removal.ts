/** Removes old records of the kinds that have a rule (fleet/retention.ts), a few in a commit. */
import { isOver, type RecordRule } from "../../fleet/retention.ts";
import type { RetentionSettings } from "../../fleet/retention-settings.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Kept } from "../../session/record-kind.ts";
import type { Store } from "../../store/contract.ts";

/** How many there are that go; with `remove` they are gone then. */
export async function oldRecords<Stored extends Kept>(
  store: Store,
  rule: RecordRule<Stored>,
  settings: RetentionSettings,
  run: {
    readonly now: number;
    readonly remove: boolean;
    /** Ids of records on which something builds that is open. */
    readonly needed: ReadonlySet<string>;
    pause(): Promise<boolean>;
  },
): Promise<number> {
  const records = store.records(rule.kind);
  let tooMany = (await records.count()) - rule.most(settings);
  let count = 0;
  for (let after: number | null = 0; after !== null;) {
    const { found, next }: Awaited<ReturnType<typeof records.scan>> = await records.scan(after);
    const going = found.flatMap(({ record }) => {
      if (run.needed.has(record.id) || !isOver(rule, record, { settings, now: run.now, tooMany })) return [];
      tooMany -= 1;
      return [record];
    });
    count += going.length;
    if (going.length > 0 && run.remove) {
      // One that was changed meanwhile stays, and with it those beside it, until the next run.
      await store
        .commit({ changes: going.map((record) => rule.kind.remove(record)) })
        .catch(() => (count -= going.length));
      failpoint("prune.after-records");
    }
    after = (await run.pause()) ? next : null;
  }
  return count;
}
