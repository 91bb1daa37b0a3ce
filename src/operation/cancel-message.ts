/** Cancels a message that has not been typed yet. */
import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { defineOperation } from "./contract.ts";
import { idempotent } from "./idempotency.ts";
import { queuedMessageSchema, viewMessage } from "./list-messages.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

export const cancelMessage = defineOperation({
  name: "cancel_message",
  summary: "Cancel a message while it still waits. Refused once it is being typed.",
  method: "POST",
  path: "/v1/sessions/{session}/messages/{message}/cancel",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", message: "m-1" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      message: z.string().check(z.minLength(1, "an id"), z.maxLength(64), z.describe("The message, by its id.")),
    }),
  output: () => queuedMessageSchema,

  async run(input, context) {
    const { store, supervisor, caller } = context;
    const session = resolveSession(store.registry, input.session);
    const known = store.mailbox.get(input.message);
    if (known?.sessionId !== session.id)
      throw new ReeveError({
        code: "unknown-message",
        kind: "not-found",
        message: `No message ${input.message} waits for ${session.identity.name}; see reeve messages ${session.identity.name}.`,
      });
    await idempotent(context, "cancel_message", async (record) => {
      await supervisor.withdraw(known, { caller, idempotency: record(known.id) });
      return known.id;
    });
    return viewMessage(session, store.mailbox.get(known.id) ?? known, null);
  },
});
