/** Items of work are addressed by id, with or without `work-`, or by a beginning of it that no other open item has. */
import * as z from "zod/mini";
import { CLOSED_STATES, groupOf, type WorkItem } from "../fleet/work.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Supervisor } from "../supervisor/contract.ts";
import { unknownWork } from "../supervisor/ledger/work-book.ts";

const PREFIX = "work-";

export const workReference = z
  .string()
  .check(
    z.regex(/^(?:work-)?[a-z0-9]{1,32}$/, "the id of a work item, such as work-k3v9xw2apq"),
    z.describe("An item of work: its id, or any beginning of it that no other has."),
  );

/** Of the closed ones, so many of each kind are looked through for a beginning. */
const MOST_LOOKED_AT = 1_000;

export async function resolveWork({ work }: Pick<Supervisor, "work">, reference: string): Promise<WorkItem> {
  const id = reference.startsWith(PREFIX) ? reference : `${PREFIX}${reference}`;
  const exact = await work.get(id);
  if (exact !== undefined) return exact;
  const open = only(reference, startingWith(work.open(), id));
  if (open !== undefined) return open;
  const pages = await Promise.all(
    CLOSED_STATES.map((state) => work.records.page({ group: groupOf(state), limit: MOST_LOOKED_AT })),
  );
  const closed = pages.flat().map(({ record }) => record);
  const found = only(reference, startingWith(closed, id));
  if (found !== undefined) return found;
  throw unknownWork(reference);
}

function startingWith(items: readonly WorkItem[], id: string): readonly WorkItem[] {
  return items.filter((item) => item.id.startsWith(id));
}

function only(reference: string, matches: readonly WorkItem[]): WorkItem | undefined {
  if (matches.length <= 1) return matches[0];
  const shown = matches.slice(0, 5).map(({ id }) => id);
  throw new ReeveError({
    code: "ambiguous-work",
    kind: "usage",
    message: `"${reference}" matches ${matches.length} work items; give more of the id: ${shown.join(", ")}.`,
    details: { matches: shown },
  });
}
