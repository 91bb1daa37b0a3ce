/**
 * Waits for something worth waking up for. The cursor makes it lossless: a
 * wait that timed out, or broke because the daemon was restarted, goes on from
 * where it was, and what happened in between is found in the log.
 */
import * as z from "zod/mini";
import type { LoggedEvent } from "../session/event.ts";
import type { WakeReason } from "../session/wake.ts";
import { isTurnEnd, standingWake, WAKE_REASONS, wakeReasonOf } from "../session/wake.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import { until } from "../supervisor/until.ts";

/** Read in pages, so that a cursor from long ago costs time but not memory. */
const PAGE = 1_000;

const list = <T extends z.ZodMiniType>(item: T) =>
  z.pipe(
    z.transform((value: unknown) => (value === undefined ? [] : Array.isArray(value) ? value : [value])),
    z.array(item),
  );

export const waitForSession = defineOperation({
  name: "wait_for_session",
  summary: "Wait until a session (or any, or all of several) finishes a turn, asks for something or ends.",
  method: "GET",
  path: "/v1/sessions/{session}/wait",
  effect: "read",
  callers: ["operator"],
  input: z.object({
    session: sessionReference,
    /** Further sessions to wait for. */
    also: list(sessionReference),
    /** Wake only for these, and for the session's end. */
    for: list(z.enum(WAKE_REASONS)),
    mode: z._default(z.enum(["any", "all"]), "any"),
    since: z.optional(z.coerce.number().check(z.int(), z.minimum(0))),
    timeout_seconds: z._default(z.coerce.number().check(z.minimum(0), z.maximum(3_600)), 45),
  }),
  output: z.object({
    done: z.boolean(),
    reason: z.enum([...WAKE_REASONS, "timeout"]),
    cursor: z.number(),
    session: sessionViewSchema,
    /** With several sessions: what each of those that woke woke for. */
    woken: z.array(z.object({ session_id: z.string(), name: z.string(), reason: z.enum(WAKE_REASONS) })),
  }),

  async run(input, context) {
    const { store, supervisor } = context;
    const sessions = [input.session, ...input.also].map((reference) => resolveSession(store.registry, reference));
    // An end reaches every waiter: what else was waited for will not come.
    const wanted = new Set<WakeReason>(input.for.length === 0 ? WAKE_REASONS : [...input.for, "exited"]);
    const wakes = new Map<string, WakeReason>();
    let cursor = input.since ?? store.log.head();
    let last = sessions[0]?.id ?? "";

    const wake = (sessionId: string, reason: WakeReason): void => {
      if (!wanted.has(reason) || wakes.has(sessionId)) return;
      wakes.set(sessionId, reason);
      last = sessionId;
    };
    const isDone = (): boolean =>
      input.mode === "any" ? wakes.size > 0 : wakes.size === new Set(sessions.map((session) => session.id)).size;

    if (input.since === undefined) {
      for (const session of sessions) {
        const reason = standingWake(session);
        if (reason !== null && !isDone()) wake(session.id, reason);
      }
    }
    const take = (event: LoggedEvent): void => {
      if (isDone()) return;
      cursor = event.seq;
      const reason = event.sessionId === null || isCorrected(context, event) ? null : wakeReasonOf(event);
      if (reason !== null && event.sessionId !== null && sessions.some((session) => session.id === event.sessionId))
        wake(event.sessionId, reason);
    };
    const catchUp = (): boolean => {
      readFrom(context, cursor, take, isDone);
      return isDone();
    };
    await until(context, catchUp, input.timeout_seconds * 1_000);

    const woken = sessions.flatMap((session) => {
      const reason = wakes.get(session.id);
      return reason === undefined ? [] : [{ session_id: session.id, name: session.name, reason }];
    });
    const subject = store.registry.get(last) ?? resolveSession(store.registry, input.session);
    const reason: WakeReason | "timeout" = isDone() ? (wakes.get(subject.id) ?? "timeout") : "timeout";
    return {
      done: isDone(),
      reason,
      cursor,
      session: viewSession(subject, supervisor.about(subject)),
      woken,
    };
  },
});

/** How it ended had only been inferred, and what is right stands further on: that is what wakes. */
function isCorrected({ store }: OperationContext, { seq, sessionId, body }: LoggedEvent): boolean {
  if (!isTurnEnd(body) || sessionId === null) return false;
  const later = store.log.read({ after: seq, limit: PAGE, sessionIds: [sessionId] });
  return later.some((event) => event.body.type === "turn-corrected" && event.body.turn === body.turn);
}

function readFrom(
  { store }: OperationContext,
  after: number,
  take: (event: LoggedEvent) => void,
  isDone: () => boolean,
): void {
  for (let from = after; !isDone();) {
    const events = store.log.read({ after: from, limit: PAGE });
    for (const event of events) take(event);
    from = events.at(-1)?.seq ?? from;
    if (events.length < PAGE) return;
  }
}
