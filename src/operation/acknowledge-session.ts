/**
 * Records that somebody knows what happened in a session. From the operator: a
 * person has seen it, so every surface stops pointing at it. From the session
 * that started it: it is not woken for that.
 */
import * as z from "zod/mini";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { viewSession } from "./session-view.ts";

export const acknowledgeSession = defineOperation({
  name: "acknowledge_session",
  summary:
    "Record that a person has seen how a session's last turn or its process ended. Called by the session that started it: that it knows what happened, so it is not woken for it; on itself: for all the sessions that it started.",
  method: "POST",
  path: "/v1/sessions/{session}/seen",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      revision: z
        .optional(z.int().check(z.minimum(1)))
        .check(
          z.describe(
            "The `revision` of the session that was shown: what happened after it stays unseen. By default the present one.",
          ),
        ),
      through: z
        .optional(z.int().check(z.minimum(0)))
        .check(
          z.describe("For a session that calls: the cursor up to which it knows what happened. By default, up to now."),
        ),
    }),
  output: () => lifecycleOutput,

  async run(input, context) {
    const { revision } = resolveSession(context.store.registry, input.session);
    if (context.caller.kind === "session") return await acknowledge(context, context.caller.id, input);
    return await carryOut(context, {
      operation: "acknowledge_session",
      session: input.session,
      command: { type: "seen", revision: input.revision ?? revision },
      isFact: () => true,
      timeoutMs: 0,
    });
  },
});

/** It moves the caller's own cursor and nothing else: a person has seen nothing. */
async function acknowledge(
  { store, supervisor }: OperationContext,
  callerId: string,
  input: { readonly session: string; readonly revision?: number | undefined; readonly through?: number | undefined },
): Promise<z.infer<typeof lifecycleOutput>> {
  const { id, revision } = resolveSession(store.registry, input.session);
  const head = store.log.head();
  // If it has changed since it was shown, nobody can say which events were: then it is told of all of them.
  const isShown = input.through !== undefined || input.revision === undefined || input.revision === revision;
  const through = isShown ? Math.min(input.through ?? head, head) : 0;
  await supervisor.wakes.tell(callerId, [{ sessionId: id === callerId ? null : id, through }]);
  const session = resolveSession(store.registry, id);
  return { done: true, session: viewSession(session, supervisor.about(session)), note: null };
}
