/**
 * Ends a session: asks its processes to end, kills those that do not, and
 * proves that nothing is left. Repeating the request is harmless.
 */
import * as z from "zod/mini";
import { requireFree } from "../fleet/work-worker.ts";
import { isEnded } from "../session/session.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { seconds } from "./field.ts";
import { graceMsOf } from "./grace.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { removedWorktree } from "./remove-worktree.ts";

/** Beyond the grace: killing and proving. */
const MARGIN_MS = 15_000;

export const endSession = defineOperation({
  name: "end_session",
  summary:
    "End a session and everything it started, and say what was done. A turn under way is finished first unless `when` is now.",
  method: "POST",
  path: "/v1/sessions/{session}/end",
  effect: "end",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", when: "now" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      when: z
        ._default(z.enum(["now", "after-turn", "if-free"]), "after-turn")
        .check(
          z.describe(
            "now: at once. after-turn: once the turn under way is over. if-free: only if no turn is under way and it has no item of work; otherwise it is refused.",
          ),
        ),
      grace_seconds: z
        .optional(seconds(3_600))
        .check(z.describe("How long its processes may take to end by themselves before they are killed.")),
      timeout_seconds: z
        .optional(seconds(3_600))
        .check(z.describe("How long to wait for the proof before answering `done: false`; by default long enough.")),
      even_if_held: z
        ._default(z.boolean(), false)
        .check(
          z.describe(
            "End it although it is held: only for the operator. It stays held, so that nothing of it is pruned.",
          ),
        ),
      worktree: z
        ._default(z.enum(["keep", "remove"]), "keep")
        .check(
          z.describe(
            "What becomes of the worktree that Reeve made for it. remove: once it has ended, unless anything in it could be lost; the answer's note says why it is kept.",
          ),
        ),
    }),
  output: () => lifecycleOutput,

  async run(input, context) {
    const graceMs = graceMsOf(context, resolveSession(context.store.registry, input.session), input.grace_seconds);
    const outcome = await carryOut(context, {
      operation: "end_session",
      session: input.session,
      command: { type: "end", graceMs, afterTurn: input.when !== "now", isMeant: input.even_if_held },
      ...(input.when === "if-free" ? { submitting: whileFree(context, input.session) } : {}),
      isFact: (session) => isEnded(session) || session.wish.desired !== "stopped",
      timeoutMs: input.timeout_seconds === undefined ? graceMs + MARGIN_MS : input.timeout_seconds * 1_000,
    });
    if (outcome.done && input.worktree === "remove")
      return { ...outcome, note: await removedWorktree(context, outcome.session.session_id) };
    if (outcome.session.desired === "stopped") return outcome;
    return { ...outcome, done: false, note: "Its end was cancelled; it goes on." };
  },
});

/** Nobody can give it an item of work between the look and the commit. */
function whileFree({ store, supervisor }: OperationContext, reference: string) {
  return (submit: () => Promise<unknown>): Promise<unknown> => {
    const { id } = resolveSession(store.registry, reference);
    return supervisor.work.whileFree(id, () => {
      const now = store.registry.get(id);
      // Of one that has exited there is nothing to lose.
      if (now !== undefined && now.process.exit === null) requireFree(now, store.mailbox.open(id).length > 0);
      return submit();
    });
  };
}
