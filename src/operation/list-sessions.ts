/** Lists sessions from memory: no runtime is asked, nothing is spawned. */
import * as z from "zod/mini";
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
  summary: "List sessions: all that were not ended, or with `all` every one that is known.",
  method: "GET",
  path: "/v1/sessions",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { role: "agent" },
  names: [],
  input: z.object({
    all: z._default(z.boolean(), false).check(z.describe("Also those that were ended.")),
    role: z.optional(z.string()).check(z.describe("Only those with this role.")),
    agent: z.optional(z.string()).check(z.describe("Only those that run this agent.")),
    state: z.optional(z.enum(STATES)).check(z.describe("Only those in this state.")),
    needs_me: z
      ._default(z.boolean(), false)
      .check(z.describe("Only those that wait for a person: blocked, failed or finished.")),
  }),
  output: z.object({
    sessions: z.array(sessionViewSchema).check(z.describe("In order of creation.")),
    cursor: cursor("The newest event. Pass it to `read_events` as `since` to read what happened after this answer."),
  }),

  async run(input, { store, supervisor, scope }) {
    const isAsked = (wanted: string | undefined, is: string): boolean => wanted === undefined || wanted === is;
    const wanted = (session: Session): boolean =>
      (input.all || !isEnded(session)) &&
      isAsked(input.role, session.identity.role) &&
      isAsked(input.agent, session.identity.agent) &&
      isAsked(input.state, session.state) &&
      (!input.needs_me || NEEDS_SOMEBODY.has(needOf(session)));
    const sessions = scope
      .sessions()
      .filter(wanted)
      .map((session) => cachedView(session, supervisor.about(session)));
    return { sessions, cursor: store.log.head() };
  },
});

/** Rows are immutable, so a view of one stays true for as long as the row is current. */
const views = new WeakMap<Session, SessionView>();

function cachedView(session: Session, about: About): SessionView {
  let view = views.get(session);
  if (view === undefined) {
    view = viewSession(session, about);
    views.set(session, view);
  }
  return view;
}
