/** Goes through groups of records, newest first, until a page is full: for lists that are searched and read page by page. */
import type { PageEnd } from "../fleet/mail-search.ts";
import { TOP_PLACE } from "../fleet/mail-search.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Kept } from "../session/record-kind.ts";
import type { Records } from "../store/contract.ts";

/** At most so many are looked at for one answer: a search must not keep the daemon from others. */
const MOST_LOOKED_AT = 2_000;
const AT_ONCE = 200;

/** `end`: where to go on; null: there is no more. */
export async function findRecords<Stored extends Kept>(
  records: Records<Stored>,
  asked: {
    /** In the order in which they are shown. */
    readonly groups: readonly string[];
    readonly wanted: (record: Stored) => boolean;
    readonly from: PageEnd;
    readonly limit: number;
  },
): Promise<{ readonly found: readonly Stored[]; readonly end: PageEnd | null }> {
  const { groups, wanted, from, limit } = asked;
  const found: Stored[] = [];
  let seen = 0;
  let before = from.place;
  for (let group = from.group; group < groups.length; group += 1) {
    for (;;) {
      // One more than is shown tells whether there is more.
      const read = Math.min(AT_ONCE, limit + 1);
      const page = await records.page({ group: groups[group] ?? "", before, limit: read });
      for (const { record, place } of page) {
        if (found.length === limit && wanted(record)) return { found, end: { group, place: before } };
        if (wanted(record)) found.push(record);
        before = place;
      }
      seen += page.length;
      if (page.length < read) break;
      if (seen >= MOST_LOOKED_AT) return { found, end: { group, place: before } };
      await new Promise((resolve) => setImmediate(resolve));
    }
    before = TOP_PLACE;
  }
  return { found, end: null };
}

export function badPage(page: string | undefined): ReeveError {
  return new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: `page must be the next_page of an earlier answer, not "${page}".`,
    details: { field: "page" },
  });
}
