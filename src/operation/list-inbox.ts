/** What needs the operator, over all sessions, the most urgent first. */
import * as z from "zod/mini";
import { byUrgency, type InboxItem } from "../fleet/inbox.ts";
import { defineOperation } from "./contract.ts";
import { count, cursor } from "./field.ts";
import { inboxItemSchema, viewItem } from "./inbox-view.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

/** Enough to see what happened today; the log has the rest. */
const MOST_CLOSED = 50;

export const listInbox = defineOperation({
  name: "list_inbox",
  summary:
    "What needs a person, over all sessions: questions, failures, stalls, finished work. Each item says what happened, what Reeve did about it, and what you can answer.",
  method: "GET",
  path: "/v1/inbox",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: { all: true },
  names: ["session"],
  input: () =>
    z.object({
      all: z
        ._default(z.boolean(), false)
        .check(z.describe("Also what you acknowledged or put off, and the last items that are over.")),
      session: z.optional(sessionReference).check(z.describe("Only what is about this session; its id or name.")),
    }),
  output: () =>
    z.object({
      items: z
        .array(inboxItemSchema)
        .check(
          z.describe("Blocked, failed, finished, other; of each, what has waited longest first. Then what is over."),
        ),
      open: count("How many items wait for you, over all sessions."),
      cursor: cursor("The newest event. Pass it to `read_events` as `since` to read what happened after this answer."),
    }),

  async run(input, { store, supervisor }) {
    const { inbox } = supervisor;
    const about = input.session === undefined ? null : resolveSession(store.registry, input.session).id;
    await inbox.settled();
    const head = store.log.head();
    const live = inbox.items().toSorted(byUrgency);
    const closed = input.all ? await inbox.closed(MOST_CLOSED) : [];
    const isShown = ({ state, sessionId }: InboxItem): boolean =>
      (input.all || state === "open") && (about === null || sessionId === about);
    return {
      items: [...live, ...closed].filter(isShown).map((item) => viewItem(store.registry, item)),
      open: live.filter(({ state }) => state === "open").length,
      cursor: head,
    };
  },
});
