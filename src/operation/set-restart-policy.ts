/** Changes whether a session is started again when its process ends by itself. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { restartPolicySchema } from "./field.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { sessionReference } from "./session-reference.ts";

export const setRestartPolicy = defineOperation({
  name: "set_restart_policy",
  summary:
    "Change whether Reeve starts a session again when its process ends by itself. Also counts for one that has ended already: a restart that waits is cancelled, or one is planned.",
  method: "POST",
  path: "/v1/sessions/{session}/restart-policy",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", policy: "on-failure" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      policy: restartPolicySchema(
        "never: it stays as it ended. on-failure: started again unless it exited with 0. always: started again.",
      ),
    }),
  output: () => lifecycleOutput,

  run: (input, context) =>
    carryOut(context, {
      operation: "set_restart_policy",
      session: input.session,
      command: { type: "set-restart-policy", policy: input.policy },
      isFact: () => true,
      timeoutMs: 0,
    }),
});
