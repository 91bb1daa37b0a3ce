/** Lists the queue of work, page by page: open items by priority, closed ones newest first. */
import * as z from "zod/mini";
import {
  CLOSED_TOP,
  closedGroups,
  FIRST_PAGE,
  isWanted,
  openPage,
  WORK_FILTERS,
  type WorkPage,
  workPage,
  workPageName,
  type WorkSearch,
} from "../fleet/work-search.ts";
import type { WorkItem } from "../fleet/work.ts";
import { defineOperation } from "./contract.ts";
import { count, textOrNull } from "./field.ts";
import { badPage, findRecords } from "./record-search.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import type { Supervisor } from "../supervisor/contract.ts";
import { viewWork, workSchema } from "./work-view.ts";

export const listWork = defineOperation({
  name: "list_work",
  summary: "List items of work: those that are open, highest priority first, or others by their state.",
  method: "GET",
  path: "/v1/work",
  effect: "read",
  callers: { operator: "any", session: "any" },
  example: { state: "open", role: "builder" },
  names: ["session"],
  input: () =>
    z.object({
      state: z
        ._default(z.enum(WORK_FILTERS), "open")
        .check(z.describe("Only those in this state; open: not over yet; closed: done, failed or cancelled.")),
      role: z.optional(z.string().check(z.maxLength(64))).check(z.describe("Only those for this role.")),
      agent: z.optional(z.string().check(z.maxLength(64))).check(z.describe("Only those for this agent.")),
      session: z.optional(sessionReference).check(z.describe("Only those that this session works or worked on.")),
      search: z
        .optional(z.string().check(z.minLength(1, "some text"), z.maxLength(200)))
        .check(z.describe("Only those with this text in title, body or result, in any case.")),
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(200)), 50)
        .check(z.meta({ description: "At most so many.", "x-unit": "items" })),
      page: z.optional(z.string().check(z.maxLength(120))).check(z.describe("`next_page` of the answer before.")),
    }),
  output: () =>
    z.object({
      open: count("How many items are open, whatever the filters leave out."),
      items: z
        .array(workSchema)
        .check(z.describe("Open ones by priority, then the oldest first; after them closed ones, newest first.")),
      next_page: textOrNull(
        "Pass it as `page` to go on; null: there is no more. A search among many closed items may find few or none on a page.",
      ),
    }),

  async run(input, context) {
    const { store, supervisor } = context;
    const { state, role, agent, session, search: text, limit } = input;
    const sessionId = session === undefined ? undefined : resolveSession(store.registry, session).id;
    const from = input.page === undefined ? FIRST_PAGE : workPage(input.page);
    if (from === null) throw badPage(input.page);
    const { items, end } = await found(supervisor.work, { state, role, agent, sessionId, text }, from, limit);
    return {
      open: supervisor.work.open().length,
      items: await Promise.all(items.map((item) => viewWork(context, item))),
      next_page: end === null ? null : workPageName(end),
    };
  },
});

async function found(
  work: Supervisor["work"],
  search: WorkSearch,
  from: WorkPage,
  limit: number,
): Promise<{ readonly items: readonly WorkItem[]; readonly end: WorkPage | null }> {
  const wanted = isWanted(search);
  const open = "open" in from ? openPage(work.open().filter(wanted), from.open, limit) : { items: [], end: null };
  const groups = closedGroups(search);
  if (open.end !== null || groups.length === 0) return open;
  const left = limit - open.items.length;
  if (left === 0) return { items: open.items, end: { closed: CLOSED_TOP } };
  const place = "closed" in from ? from.closed : CLOSED_TOP;
  const closed = await findRecords(work.records, { groups, wanted, from: place, limit: left });
  return {
    items: [...open.items, ...closed.found],
    end: closed.end === null ? null : { closed: closed.end },
  };
}
