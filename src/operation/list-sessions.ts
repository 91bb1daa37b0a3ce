/** Lists sessions from memory: no runtime is asked, nothing is spawned. */
import * as z from "zod/mini";
import type { Session } from "../session/session.ts";
import { NEEDS_SOMEBODY, needOf } from "../session/need.ts";
import { isEnded, STATES } from "../session/session.ts";
import type { About } from "../supervisor/supervisor.ts";
import { defineOperation } from "./contract.ts";
import type { SessionView } from "./session-view.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";

export const listSessions = defineOperation({
  name: "list_sessions",
  summary: "List sessions: all that were not ended, or with `all` every one that is known.",
  method: "GET",
  path: "/v1/sessions",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  names: [],
  input: z.object({
    all: z._default(z.stringbool(), false),
    role: z.optional(z.string()),
    agent: z.optional(z.string()),
    state: z.optional(z.enum(STATES)),
    /** Only those that wait for a person: blocked, failed or finished. */
    needs_me: z._default(z.stringbool(), false),
  }),
  output: z.object({ sessions: z.array(sessionViewSchema), cursor: z.number() }),

  async run(input, { store, supervisor, scope }) {
    const isAsked = (wanted: string | undefined, is: string): boolean => wanted === undefined || wanted === is;
    const wanted = (session: Session): boolean =>
      (input.all || !isEnded(session)) &&
      isAsked(input.role, session.role) &&
      isAsked(input.agent, session.agent) &&
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
