/** The log, from a cursor on. HTTP serves the same operation as a stream when asked for text/event-stream. */
import * as z from "zod/mini";
import type { LoggedEvent } from "../session/event.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import { defineOperation } from "./contract.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";

const eventViewSchema = z.object({
  seq: z.number(),
  at: z.string(),
  session_id: z.nullable(z.string()),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
});

export type EventView = z.infer<typeof eventViewSchema>;

export const readEvents = defineOperation({
  name: "read_events",
  summary:
    "Events after a cursor, oldest first; as server-sent events (Accept: text/event-stream) it goes on with what happens next.",
  method: "GET",
  path: "/v1/events",
  effect: "read",
  callers: ["operator"],
  input: z.object({
    after: z._default(z.coerce.number().check(z.int(), z.minimum(0)), 0),
    limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(1_000)), 1_000),
    session: z.optional(sessionReference),
  }),
  output: z.object({ events: z.array(eventViewSchema), cursor: z.number() }),

  async run(input, { store }) {
    const sessionIds = input.session === undefined ? undefined : [resolveSession(store.registry, input.session).id];
    const events = store.log.read({
      after: input.after,
      limit: input.limit,
      ...(sessionIds === undefined ? {} : { sessionIds }),
    });
    return { events: events.map(viewEvent), cursor: events.at(-1)?.seq ?? Math.max(input.after, store.log.head()) };
  },
});

export function viewEvent(event: LoggedEvent): EventView {
  const { type, ...data } = event.body;
  return { seq: event.seq, at: iso(event.at), session_id: event.sessionId, type, data: safe(data) };
}

/** Snake_case names, no escape sequence in any text. */
function safe(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]: [string, unknown]) => [
      snakeCase(key),
      isInstant(key, value) ? iso(value) : safeValue(value),
    ]),
  );
}

function isInstant(key: string, value: unknown): value is number {
  return typeof value === "number" && /(?:^at|At)$/.test(key);
}

function safeValue(value: unknown): unknown {
  if (typeof value === "string") return stripTerminal(value);
  if (Array.isArray(value)) return value.map(safeValue);
  return typeof value === "object" && value !== null ? safe(value) : value;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
