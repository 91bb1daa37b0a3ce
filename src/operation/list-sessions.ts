/** Lists sessions from memory: no runtime is asked, nothing is spawned. */
import * as z from "zod/mini";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { About } from "../supervisor/supervisor.ts";
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
  }),
  output: z.object({
    sessions: z.array(sessionViewSchema).check(z.describe("In order of creation.")),
    cursor: cursor("The newest event. Pass it to `read_events` as `since` to read what happened after this answer."),
  }),

  async run(input, { store, supervisor, scope }) {
    const wanted = (session: Session): boolean =>
      (input.all || !isEnded(session)) && (input.role === undefined || session.identity.role === input.role);
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
