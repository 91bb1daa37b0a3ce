/**
 * Waits until a session finishes a turn, asks for something or ends. Without a cursor it is about the last thing that
 * was asked of the session, so it does not matter whether the wait or the end of the turn comes first. With a cursor no
 * event is missed: a wait that timed out, or broke because the daemon was restarted, continues from there.
 */
import * as z from "zod/mini";
import { WAKE_REASONS } from "../session/wake.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { cursor, seconds, since, text, textOrNull, yesOrNo } from "./field.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import type { Waiter } from "./waiter.ts";
import { waitOn } from "./waiter.ts";

const outputSchema = z.object({
  done: yesOrNo("Whether what you waited for happened: one of `for`, or without `for` anything that ends a wait."),
  ok: yesOrNo(
    "Whether it went well: one of `for` happened; without `for`, the turn completed, or a program without turns exited with 0.",
  ),
  reason: z
    .enum([...WAKE_REASONS, "nothing-to-wait-for", "timeout"])
    .check(z.describe("What happened; with `done: false`, what happened instead, or why nothing did.")),
  why: textOrNull("Why there is nothing to wait for; null otherwise."),
  cursor: cursor("Pass it as `since` to wait on without missing an event."),
  session: sessionViewSchema.check(z.describe("The session that woke you, or the first of those you asked about.")),
  woken: z
    .array(
      z.object({
        session_id: text("The session."),
        name: text("Its name."),
        reason: z.enum([...WAKE_REASONS, "nothing-to-wait-for"]).check(z.describe("What happened to it.")),
        ok: yesOrNo("Whether that went well."),
        why: textOrNull("Why there is nothing to wait for; null otherwise."),
      }),
    )
    .check(z.describe("Each session whose outcome is known by now.")),
});

export const waitForSession = defineOperation({
  name: "wait_for_session",
  summary:
    "Wait until a session (or any, or all of several) finishes a turn, asks for something or ends. Without `since` it is about what was asked of it last: it answers at once if that is over already, or if that starts no turn.",
  method: "GET",
  path: "/v1/sessions/{session}/wait",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", for: ["turn-completed"], timeout_seconds: 600 },
  names: ["session", "also"],
  input: z.object({
    session: sessionReference,
    also: z._default(z.array(sessionReference), []).check(z.describe("Further sessions to wait for.")),
    for: z
      ._default(z.array(z.enum(WAKE_REASONS)), [])
      .check(
        z.describe(
          "Only these count. It answers `done: false` as soon as none of them can happen any more without somebody's help.",
        ),
      ),
    mode: z
      ._default(z.enum(["any", "all"]), "any")
      .check(z.describe("With several sessions: whether the first or the last of them ends the wait.")),
    since: since(
      "A cursor: only what happened after it counts. With the cursor of a start, a message or an answer, the wait is about its outcome.",
    ),
    timeout_seconds: z
      ._default(seconds(3_600), 45)
      .check(z.describe("How long to wait before answering `reason: timeout`.")),
  }),
  output: outputSchema,

  async run(input, context) {
    const { store } = context;
    const references = [input.session, ...input.also];
    const ids = new Set(references.map((reference) => resolveSession(store.registry, reference).id));
    const isEnough = (waiters: readonly Waiter[]): boolean => {
      if (waiters.every((waiter) => waiter.found() !== null)) return true;
      return input.mode === "any" && waiters.some((waiter) => waiter.found()?.isDone === true);
    };
    const request = { since: input.since, wanted: new Set(input.for), timeoutMs: input.timeout_seconds * 1_000 };
    const waiters = await waitOn(context, ids, { ...request, isEnough });
    await noteTold(context, waiters);
    return answer(context, waiters, { mode: input.mode, isOver: isEnough(waiters) });
  },
});

/** A session that gets this answer knows it: it is not woken for the same. Whoever went away did not get it. */
async function noteTold({ caller, signal, supervisor }: OperationContext, waiters: readonly Waiter[]): Promise<void> {
  if (caller.kind !== "session" || signal.aborted) return;
  const news = waiters.flatMap((waiter) => {
    const found = waiter.found();
    if (found === null || found.reason === "nothing-to-wait-for") return [];
    return [{ sessionId: waiter.sessionId, through: found.seq }];
  });
  if (news.length > 0) await supervisor.wakes.tell(caller.id, news);
}

function answer(
  { store, supervisor }: OperationContext,
  waiters: readonly Waiter[],
  { mode, isOver }: { readonly mode: "any" | "all"; readonly isOver: boolean },
): z.infer<typeof outputSchema> {
  const told = waiters.flatMap((waiter) => {
    const found = waiter.found();
    return found === null ? [] : [{ ...found, sessionId: waiter.sessionId }];
  });
  const telling =
    mode === "any" ? (told.find(({ isDone }) => isDone) ?? told[0]) : (told.find(({ ok }) => !ok) ?? told.at(-1));
  const one = isOver ? telling : undefined;
  const subject = resolveSession(store.registry, one?.sessionId ?? waiters[0]?.sessionId ?? "");
  const counted = mode === "any" && one !== undefined ? [one] : told;
  return {
    done: isOver && counted.every(({ isDone }) => isDone),
    ok: isOver && counted.every(({ ok }) => ok),
    reason: one?.reason ?? "timeout",
    why: one?.why ?? null,
    cursor: isOver ? Math.max(...counted.map(({ seq }) => seq)) : goOnFrom(waiters),
    session: viewSession(subject, supervisor.about(subject)),
    woken: told.map(({ sessionId, reason, ok, why }) => ({
      session_id: sessionId,
      name: store.registry.get(sessionId)?.identity.name ?? sessionId,
      reason,
      ok,
      why,
    })),
  };
}

/** One session: about the same thing as before. Several: there is one cursor for all, and all has been read up to it. */
function goOnFrom(waiters: readonly Waiter[]): number {
  const [only, ...others] = waiters.map((waiter) => waiter.cursor());
  if (only === undefined) return 0;
  return others.length === 0 ? only.sameAsk : Math.min(only.afterAll, ...others.map(({ afterAll }) => afterAll));
}
