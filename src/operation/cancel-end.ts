/** Cancels an end that still waits for the turn under way. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { sessionReference } from "./session-reference.ts";

export const cancelEnd = defineOperation({
  name: "cancel_end",
  summary:
    "Cancel the end of a session while it still waits for the turn under way. Refused once the session is being stopped.",
  method: "POST",
  path: "/v1/sessions/{session}/end/cancel",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () => z.object({ session: sessionReference }),
  output: () => lifecycleOutput,

  async run(input, context) {
    const outcome = await carryOut(context, {
      operation: "cancel_end",
      session: input.session,
      command: { type: "cancel-end" },
      isFact: () => true,
      timeoutMs: 0,
    });
    return { ...outcome, note: "Its end was cancelled." };
  },
});
