/**
 * Waits until a session finishes a turn, asks for something or ends. Without a cursor it is about the last thing that
 * was asked of the session, so it does not matter whether the wait or the end of the turn comes first. With a cursor no
 * event is missed: a wait that timed out, or broke because the daemon was restarted, continues from there.
 */
import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { WAKE_REASONS } from "../session/wake.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { cursor, seconds, since, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { lastReply, replySchema } from "./last-reply.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import type { Waiter } from "./waiter.ts";
import { waitOn } from "./waiter.ts";
import { whomToWaitFor } from "./whom-to-wait-for.ts";

const outputSchema = whenUsed(() =>
  z.object({
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
          reply: replySchema,
        }),
      )
      .check(z.describe("Each session whose outcome is known by now.")),
    asleep: z
      .array(z.string())
      .check(z.describe("The ids of the others: to wait on, name these and pass `cursor` as `since`.")),
  }),
);

export const waitForSession = defineOperation({
  name: "wait_for_session",
  summary:
    "Wait until a session (or any, or all of several) finishes a turn, asks for something or ends. Without `session` it waits for those that work or ask something now, of a role or of all. Without `since` it is about what was asked of it last: it answers at once if that is over already, or if that starts no turn.",
  method: "GET",
  path: "/v1/sessions/{session}/wait",
  without: { path: "/v1/wait", name: "wait_for_sessions" },
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", for: ["turn-completed"], timeout_seconds: 600 },
  names: ["session", "also"],
  input: () =>
    z.object({
      session: z
        .optional(sessionReference)
        .check(
          z.describe(
            "A session: its id, its name, or any beginning of its id that no other session has. Left out: those that work or ask something, and those that failed.",
          ),
        ),
      also: z._default(z.array(sessionReference), []).check(z.describe("Further sessions to wait for.")),
      role: z.optional(z.string()).check(z.describe("Without `session`: only those with this role.")),
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
      reply: z
        ._default(z.boolean(), true)
        .check(z.describe("Also return the end of what each agent answered, once its transcript holds it.")),
    }),
  output: () => outputSchema,

  async run(input, context) {
    const { store } = context;
    requirePast(input.since, store.log.head());
    requireKept(input.since, store.log.prunedThrough());
    const wanted = new Set(input.for);
    const ids =
      named(input, context) ??
      (await whomToWaitFor(context, { ...input, role: input.role, since: input.since, wanted }));
    const isEnough = (waiters: readonly Waiter[]): boolean => {
      if (waiters.every((waiter) => waiter.found() !== null)) return true;
      return input.mode === "any" && waiters.some((waiter) => waiter.found()?.isDone === true);
    };
    const request = { since: input.since, wanted, timeoutMs: input.timeout_seconds * 1_000 };
    const waiters = await waitOn(context, ids, { ...request, isEnough });
    const answered = await answer(context, waiters, { ...input, isOver: isEnough(waiters) });
    await noteTold(context, waiters);
    return answered;
  },
});

/** Null: nobody is named. */
function named(
  {
    session,
    also,
    role,
  }: { readonly session?: string | undefined; readonly also: readonly string[]; readonly role?: string | undefined },
  { store }: OperationContext,
): ReadonlySet<string> | null {
  const references = [...(session === undefined ? [] : [session]), ...also];
  if (references.length === 0) return null;
  if (role !== undefined)
    throw new ReeveError({
      code: "role-and-names",
      kind: "usage",
      message: "Name sessions or a role, not both.",
      details: { field: "role" },
    });
  return new Set(references.map((reference) => resolveSession(store.registry, reference).id));
}

/** Nothing would ever be after it: the wait would miss everything that happens until then. */
function requirePast(since: number | undefined, head: number): void {
  if (since === undefined || since <= head) return;
  throw new ReeveError({
    code: "future-cursor",
    kind: "usage",
    message: `The cursor ${since} is later than the newest event, ${head}; pass the cursor of an answer that Reeve gave in this home, or leave since out.`,
    details: { field: "since", head },
  });
}

/** What happened after it may be gone: nobody could tell that from nothing having happened. */
function requireKept(since: number | undefined, prunedThrough: number): void {
  if (since === undefined || since >= prunedThrough) return;
  throw new ReeveError({
    code: "cursor-too-old",
    kind: "usage",
    message: `Events up to ${prunedThrough} were removed because they were old, and some of them came after the cursor ${since}; leave since out to wait for what was asked last.`,
    details: { field: "since", pruned_through: prunedThrough },
  });
}

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

async function answer(
  context: OperationContext,
  waiters: readonly Waiter[],
  { mode, reply, isOver }: { readonly mode: "any" | "all"; readonly reply: boolean; readonly isOver: boolean },
): Promise<z.infer<typeof outputSchema>> {
  const { store, supervisor } = context;
  const told = waiters.flatMap((waiter) => {
    const found = waiter.found();
    return found === null ? [] : [{ ...found, sessionId: waiter.sessionId }];
  });
  const telling =
    mode === "any" ? (told.find(({ isDone }) => isDone) ?? told[0]) : (told.find(({ ok }) => !ok) ?? told.at(-1));
  const one = isOver ? telling : undefined;
  const subject = resolveSession(store.registry, one?.sessionId ?? waiters[0]?.sessionId ?? "");
  const replyOf = async (id: string) => {
    const session = reply ? store.registry.get(id) : undefined;
    return session === undefined ? null : await lastReply(context, session);
  };
  const counted = mode === "any" && one !== undefined ? [one] : told;
  return {
    done: isOver && counted.every(({ isDone }) => isDone),
    ok: isOver && counted.every(({ ok }) => ok),
    reason: one?.reason ?? "timeout",
    why: one?.why ?? null,
    cursor: isOver ? Math.max(...counted.map(({ seq }) => seq)) : goOnFrom(waiters),
    session: viewSession(subject, supervisor.about(subject)),
    woken: await Promise.all(
      told.map(async ({ sessionId, reason, ok, why }) => ({
        session_id: sessionId,
        name: store.registry.get(sessionId)?.identity.name ?? sessionId,
        reason,
        ok,
        why,
        reply: await replyOf(sessionId),
      })),
    ),
    asleep: waiters.filter((waiter) => waiter.found() === null).map(({ sessionId }) => sessionId),
  };
}

/** One session: about the same thing as before. Several: there is one cursor for all, and all has been read up to it. */
function goOnFrom(waiters: readonly Waiter[]): number {
  const [only, ...others] = waiters.map((waiter) => waiter.cursor());
  if (only === undefined) return 0;
  return others.length === 0 ? only.sameAsk : Math.min(only.afterAll, ...others.map(({ afterAll }) => afterAll));
}
