/** Lists sessions from memory: no runtime is asked, nothing is spawned. */
import * as z from "zod/mini";
import { isGone } from "../fleet/manifest-plan.ts";
import { byEnd, endOf } from "../fleet/retention.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { needOf } from "../session/need.ts";
import { NEEDS_SOMEBODY } from "../session/need-order.ts";
import { isEnded } from "../session/session.ts";
import { STATES } from "../session/states.ts";
import type { About } from "../supervisor/testimony.ts";
import { defineOperation } from "./contract.ts";
import { cursor } from "./field.ts";
import type { SessionView } from "./session-view.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";

export const listSessions = defineOperation({
  name: "list_sessions",
  summary:
    "List sessions: all that were not ended, and with `all` or `ended` those that were, the newest end first, page by page.",
  method: "GET",
  path: "/v1/sessions",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { role: "agent" },
  names: [],
  input: () =>
    z.object({
      all: z
        ._default(z.boolean(), false)
        .check(z.describe("Also those that were ended, after the others, page by page.")),
      ended: z._default(z.boolean(), false).check(z.describe("Only those that were ended.")),
      role: z.optional(z.string()).check(z.describe("Only those with this role.")),
      agent: z.optional(z.string()).check(z.describe("Only those that run this agent.")),
      state: z.optional(z.enum(STATES)).check(z.describe("Only those in this state.")),
      manifest: z
        .optional(z.string())
        .check(z.describe("Only those that this manifest made: its absolute path, without links.")),
      gone: z
        ._default(z.boolean(), false)
        .check(
          z.describe("Only those that should run and whose process is gone, and that Reeve does not start by itself."),
        ),
      needs_me: z
        ._default(z.boolean(), false)
        .check(z.describe("Only those that wait for a person: blocked, failed or finished.")),
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(1_000)), 500)
        .check(z.meta({ description: "Of those that were ended at most so many on a page.", "x-unit": "sessions" })),
      page: z
        .optional(z.string().check(z.maxLength(96)))
        .check(z.describe("`next_page` of the answer before; with `all` or `ended`.")),
    }),
  output: () =>
    z.object({
      sessions: z
        .array(sessionViewSchema)
        .check(z.describe("In order of creation; then those that were ended, the newest end first.")),
      next_page: z
        .optional(z.nullable(z.string()))
        .check(z.describe("With `all` or `ended`: pass it as `page` to read on; null: there is no more.")),
      inbox_open: z
        .optional(z.int().check(z.minimum(0)))
        .check(z.describe("For the operator: how many items wait in the inbox.")),
      cursor: cursor("The newest event. Pass it to `read_events` as `since` to read what happened after this answer."),
    }),

  async run(input, { store, supervisor, scope, caller }) {
    const isAsked = (wanted: string | undefined, is: string): boolean => wanted === undefined || wanted === is;
    const wanted = (session: Session): boolean =>
      isAsked(input.role, session.identity.role) &&
      isAsked(input.agent, session.identity.agent) &&
      isAsked(input.state, session.state) &&
      isAsked(input.manifest, session.identity.manifest?.file ?? "") &&
      (!input.gone || isGone(session)) &&
      (!input.needs_me || NEEDS_SOMEBODY.has(needOf(session, supervisor.about(session).parked?.hasWork)));
    const hasEnded = input.all || input.ended;
    const { page, next } = hasEnded
      ? pageOf(
          scope.sessions().filter((session) => isEnded(session) && wanted(session)),
          input.page,
          input.limit,
        )
      : { page: [], next: null };
    // The first page has all of them: they are few.
    const living = input.ended || (hasEnded && input.page !== undefined) ? [] : scope.living().filter(wanted);
    const sessions = [...living, ...page].map((session) => cachedView(session, supervisor.about(session)));
    const inboxOpen = supervisor.inbox.items().filter(({ state }) => state === "open").length;
    return {
      sessions,
      ...(hasEnded ? { next_page: next } : {}),
      ...(caller.kind === "session" ? {} : { inbox_open: inboxOpen }),
      cursor: store.log.head(),
    };
  },
});

/** A page ends with the last session on it: whatever ends or goes meanwhile, none is shown twice or left out. */
function pageOf(
  ended: readonly Session[],
  after: string | undefined,
  limit: number,
): { readonly page: readonly Session[]; readonly next: string | null } {
  const [, at, id] = (after === undefined ? null : /^(\d{1,15})-([a-z0-9-]{1,64})$/.exec(after)) ?? [];
  if (after !== undefined && id === undefined) throw badPage(after);
  const isAfter = (session: Session): boolean =>
    id === undefined || endOf(session) < Number(at) || (endOf(session) === Number(at) && session.id < id);
  const rest = ended.filter(isAfter).toSorted((one, other) => byEnd(other, one));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { page, next: last === undefined || rest.length <= limit ? null : `${endOf(last)}-${last.id}` };
}

function badPage(page: string): ReeveError {
  return new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: `page must be the next_page of an earlier answer, not "${page}".`,
    details: { field: "page" },
  });
}

/** Rows are immutable, so a view of one stays true for as long as the row is current, git says nothing new and its work is the same. */
const views = new WeakMap<Session, { readonly view: SessionView } & Pick<About, "git" | "work">>();

function cachedView(session: Session, about: About): SessionView {
  // What it waits for is not in its row.
  if (about.parked !== null) return viewSession(session, about);
  const known = views.get(session);
  if (known !== undefined && known.git === about.git && known.work === about.work) return known.view;
  const view = viewSession(session, about);
  views.set(session, { view, git: about.git, work: about.work });
  return view;
}
