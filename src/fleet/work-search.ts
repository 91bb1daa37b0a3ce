/**
 * Which items of work a reader asks for, and in which order: open ones by
 * priority and then the oldest, after them the closed ones, newest first. A page
 * of open items ends at one of them, whatever was added or done meanwhile; a
 * page of closed ones at a place in the store.
 */
import { type PageEnd, pageEnd, pageName, TOP_PLACE } from "./mail-search.ts";
import { CLOSED_STATES, groupOf, inOrder, isClosed, WORK_STATES, type WorkItem, type WorkState } from "./work.ts";

export const WORK_FILTERS = ["open", "closed", "all", ...WORK_STATES] as const;
export type WorkFilter = (typeof WORK_FILTERS)[number];

export interface WorkSearch {
  readonly state: WorkFilter;
  readonly role?: string | undefined;
  readonly agent?: string | undefined;
  /** Who works or worked on it. */
  readonly sessionId?: string | undefined;
  /** In the title, the body or the result, whatever its case. */
  readonly text?: string | undefined;
}

type Ordered = Pick<WorkItem, "priority" | "createdAt" | "id">;

/** Where a page ended: after an open item, or among the closed ones. */
export type WorkPage = { readonly open: Ordered | null } | { readonly closed: PageEnd };

export const FIRST_PAGE: WorkPage = { open: null };
export const CLOSED_TOP: PageEnd = { group: 0, place: TOP_PLACE };

export function closedGroups({ state }: WorkSearch): readonly string[] {
  return CLOSED_STATES.filter((closed) => state === "closed" || state === "all" || state === closed).map(groupOf);
}

export function isWanted({ state, role, agent, sessionId, text }: WorkSearch): (item: WorkItem) => boolean {
  const sought = text?.toLowerCase();
  const holds = (part: string): boolean => sought === undefined || part.toLowerCase().includes(sought);
  return (item) =>
    isOfState(item.state, state) &&
    (role === undefined || item.role === role) &&
    (agent === undefined || item.agent === agent) &&
    (sessionId === undefined || item.sessions.includes(sessionId)) &&
    (holds(item.title) || holds(item.body) || holds(item.result?.text ?? ""));
}

function isOfState(is: WorkState, asked: WorkFilter): boolean {
  if (asked === "all") return true;
  return asked === "open" || asked === "closed" ? isClosed(is) === (asked === "closed") : is === asked;
}

/** At most `limit` of these after that one, in order; null: there is no more. */
export function openPage(
  items: readonly WorkItem[],
  after: Ordered | null,
  limit: number,
): { readonly items: readonly WorkItem[]; readonly end: WorkPage | null } {
  const left = items.toSorted(inOrder).filter((item) => after === null || inOrder(after, item) < 0);
  const shown = left.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown, end: left.length > limit && last !== undefined ? { open: last } : null };
}

export function workPageName(page: WorkPage): string {
  if ("closed" in page) return `closed-${pageName(page.closed)}`;
  const { open } = page;
  return open === null ? "open" : `open_${open.priority}_${open.createdAt}_${open.id}`;
}

/** Null: it names none. */
export function workPage(name: string): WorkPage | null {
  if (name.startsWith("closed-")) {
    const closed = pageEnd(name.slice("closed-".length));
    return closed === null ? null : { closed };
  }
  const [, priority, createdAt, id] = /^open_(-?\d{1,4})_(\d{1,15})_(work-[a-z0-9]{1,32})$/.exec(name) ?? [];
  if (priority === undefined || createdAt === undefined || id === undefined) return null;
  return { open: { priority: Number(priority), createdAt: Number(createdAt), id } };
}
