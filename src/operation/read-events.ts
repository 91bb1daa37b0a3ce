/** Reads the log from a cursor on: what there is now, or as a stream that continues with new events. */
import * as z from "zod/mini";
import type { LoggedEvent } from "../session/event.ts";
import { remembered } from "../platform/remembered.ts";
import type { OperationContext, StreamItem } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import type { EventView } from "./event-schema.ts";
import { eventSchema } from "./event-schema.ts";
import { count, cursor } from "./field.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "../platform/instant.ts";
import { shownData } from "../session/shown-event.ts";
import { wakeReasonOf } from "../session/wake.ts";

export const readEvents = defineOperation({
  name: "read_events",
  summary:
    "Events after a cursor, oldest first; as server-sent events (Accept: text/event-stream) it goes on with what happens next.",
  method: "GET",
  path: "/v1/events",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { since: 120, session: "fix" },
  names: ["session"],
  input: () =>
    z.object({
      since: z
        ._default(z.int().check(z.minimum(0)), 0)
        .check(
          z.describe(
            "A cursor: only events after it. By default from the first event on. In a stream, `Last-Event-ID` counts more.",
          ),
        ),
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(1_000)), 1_000)
        .check(z.meta({ description: "At most so many; a stream has no such limit.", "x-unit": "events" })),
      session: z.optional(sessionReference).check(z.describe("Only events of this session; its id or name.")),
    }),
  output: () =>
    z.object({
      events: z.array(eventSchema).check(z.describe("Oldest first.")),
      cursor: cursor("Pass it as `since` to read on."),
      pruned_through: count(
        "Events up to this one were removed because they were old, except a few that are still needed; 0: none was. If it is higher than your `since`, you have missed events.",
      ),
    }),

  async run(input, context) {
    const { events, cursor: next } = await readOn(
      input.since,
      input.limit,
      sessionsOf(input.session, context),
      context,
    );
    return { events: events.map(viewEvent), cursor: next, pruned_through: context.store.log.prunedThrough() };
  },

  stream: {
    since: "since",
    without: ["limit"],
    item: eventSchema,
    open: (input, context) => follow(input.since, sessionsOf(input.session, context), context),
  },
});

/** A stream reads this much at once, at its reader's own pace, and holds nothing else for it. */
const PAGE = 200;

async function* follow(
  after: number,
  sessions: ReturnType<typeof sessionsOf>,
  { store, signal, clock, direct = () => false }: OperationContext,
): AsyncGenerator<readonly StreamItem[], void, void> {
  const { log } = store;
  let cursor = after;
  /** Of one that has read everything and waits for more. */
  let wake: (() => void) | null = null;
  const wakeUp = (): void => {
    wake?.();
    wake = null;
  };
  const heard = (events: readonly LoggedEvent[]): void => {
    if (wake === null || signal.aborted) return;
    let isSent = false;
    try {
      const { sessionIds } = sessions();
      const own = sessionIds && events.filter(({ sessionId }) => sessionIds.includes(sessionId ?? ""));
      // Whoever listens hears of it before anything else that the commit sets going.
      isSent = own?.length === 0 || direct(own?.map(itemOf) ?? itemsOf(events));
    } finally {
      if (isSent) cursor = events.at(-1)?.seq ?? cursor;
      else wakeUp();
    }
  };
  // One listener each for the whole stream: one per wake would pile up for as long as somebody listens.
  const unfollow = log.follow(heard, "first");
  signal.addEventListener("abort", wakeUp);
  const asleep = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      if (signal.aborted) wakeUp();
    });
  try {
    while (!signal.aborted) {
      const page = await readOn(cursor, PAGE, sessions, { store });
      const items = page.events.map(itemOf);
      const gone = log.prunedThrough();
      const next = page.events.findIndex(({ seq }) => seq > gone);
      // In its place among what is left: after it nothing is missing.
      if (cursor < gone && (next >= 0 || page.events.length < PAGE))
        items.splice(next < 0 ? items.length : next, 0, missed(cursor, gone, clock.now()));
      cursor = page.cursor;
      if (items.length > 0) yield items;
      if (log.head() > cursor) continue;
      await asleep();
    }
  } finally {
    unfollow();
    signal.removeEventListener("abort", wakeUp);
  }
}

/**
 * What there is, and where to go on. Nothing is taken that was committed while it was read: it may be about a session
 * that this caller may see since then, whose first events were not asked for.
 */
async function readOn(
  after: number,
  limit: number,
  sessions: ReturnType<typeof sessionsOf>,
  { store: { log } }: Pick<OperationContext, "store">,
): Promise<{ readonly events: readonly LoggedEvent[]; readonly cursor: number }> {
  const head = log.head();
  const read = await log.read({ after, limit, ...sessions() });
  const events = read.filter(({ seq }) => seq <= head);
  return { events, cursor: events.at(-1)?.seq ?? Math.max(after, head) };
}

/** Everybody who listens gets the newest events at the same time: each is made ready once for all of them. */
const NEWEST = 64;

const itemOf = remembered(NEWEST, (event: LoggedEvent): StreamItem => ({
  id: event.seq,
  type: event.body.type,
  data: viewEvent(event),
}));

/** Of a whole commit, the same for all who may see everything. */
const itemsOf = remembered(1, (events: readonly LoggedEvent[]): readonly StreamItem[] => events.map(itemOf));

/** Said by no event of the log: those that are not there any more. Whoever goes on after it has missed nothing more. */
function missed(since: number, through: number, at: number): StreamItem {
  const body = { type: "events-missed", since, through } as const;
  const event = { seq: through, at, sessionId: null, caller: null, body };
  return { id: through, type: body.type, data: viewEvent(event) };
}

/** The one that is named, or those this caller may see by then. */
function sessionsOf(
  session: string | undefined,
  { store, scope }: OperationContext,
): () => { readonly sessionIds?: readonly string[] } {
  const named = session === undefined ? null : [resolveSession(store.registry, session).id];
  return () => {
    const sessionIds = named ?? scope.ids();
    return sessionIds === null ? {} : { sessionIds };
  };
}

export function viewEvent(event: LoggedEvent): EventView {
  const { type, ...data } = event.body;
  const wake = wakeReasonOf(event);
  return {
    seq: event.seq,
    at: iso(event.at),
    session_id: event.sessionId,
    caller: event.caller,
    ...(event.via === undefined ? {} : { via: event.via }),
    type,
    ...(wake === null ? {} : { wake }),
    data: shownData(data),
  };
}
