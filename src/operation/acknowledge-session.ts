/** Records that a person has seen what happened in a session, so that every surface stops pointing at it. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

export const acknowledgeSession = defineOperation({
  name: "acknowledge_session",
  summary: "Record that a person has seen how a session's last turn or its process ended. Nothing else changes.",
  method: "POST",
  path: "/v1/sessions/{session}/seen",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: { session: "fix" },
  names: ["session"],
  input: z.object({
    session: sessionReference,
    revision: z
      .optional(z.int().check(z.minimum(1)))
      .check(
        z.describe(
          "The `revision` of the session that was shown: what happened after it stays unseen. By default the present one.",
        ),
      ),
  }),
  output: lifecycleOutput,

  async run(input, context) {
    const { revision } = resolveSession(context.store.registry, input.session);
    return await carryOut(context, {
      operation: "acknowledge_session",
      session: input.session,
      command: { type: "seen", revision: input.revision ?? revision },
      isFact: () => true,
      timeoutMs: 0,
    });
  },
});
