/** Messages that wait to be typed into a session, or are being typed. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Message } from "../session/message.ts";
import { inOrder } from "../session/next-step.ts";
import type { Session } from "../session/session.ts";
import { defineOperation } from "./contract.ts";
import { instant, text, textOrNull, whenUsed } from "./field.ts";
import { waitingFor } from "./send-message.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";

export const queuedMessageSchema = whenUsed(() =>
  z
    .object({
      message_id: text("Its id."),
      session_id: text("The session that it goes to."),
      session_name: text("The name of that session."),
      text: text("The text to type; a secret of the session is replaced by the name of its variable."),
      state: z
        .enum(["admitted", "leased", "delivered", "refused", "unknown"])
        .check(z.describe("admitted: it waits. leased: it is being typed, and cannot be cancelled.")),
      how: z.enum(["queue", "steer", "interrupt"]).check(z.describe("What happens with a turn that is under way.")),
      detail: textOrNull("What it waits for, where that is known; once it is over, how it ended."),
      sent_by: textOrNull(
        "Who sent it: `operator`, `session:<id>` or `system`; null where an earlier version recorded it.",
      ),
      admitted_at: instant("When it was recorded."),
    })
    .register(z.globalRegistry, { id: "QueuedMessage", description: "A message on its way into a session." }),
);

export const listMessages = defineOperation({
  name: "list_messages",
  summary: "Messages that wait to be typed into a session, in the order in which they will be.",
  method: "GET",
  path: "/v1/sessions/{session}/messages",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () => z.object({ session: sessionReference }),
  output: () =>
    z.object({
      messages: z.array(queuedMessageSchema).check(z.describe("In the order in which they will be typed.")),
    }),

  async run(input, { store, supervisor }) {
    const session = resolveSession(store.registry, input.session);
    const { obstacle } = supervisor.testimony(session);
    const messages = inOrder(store.mailbox.open(session.id));
    return {
      messages: messages.map((message) => viewMessage(session, message, waitingFor(session, obstacle, message))),
    };
  },
});

export function viewMessage(
  session: Session,
  message: Message,
  waiting: string | null,
): z.infer<typeof queuedMessageSchema> {
  return {
    message_id: message.id,
    session_id: session.id,
    session_name: session.identity.name,
    text: stripTerminal(message.text),
    state: message.state,
    how: message.how,
    detail: message.detail ?? waiting,
    sent_by: message.caller,
    admitted_at: iso(message.admittedAt),
  };
}
