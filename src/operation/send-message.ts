/** Sends a message: admitted durably, then typed as soon as the session can take it, once. */
import * as z from "zod/mini";
import { newMessageId } from "../platform/ids.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { MAX_PASTE_BYTES } from "../runtime/contract.ts";
import { mayTakeMessagesLater } from "../session/pending-effect.ts";
import { defineOperation } from "./contract.ts";
import { idempotent } from "./idempotency.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";
import { until } from "./settled.ts";

export const sendMessage = defineOperation({
  name: "send_message",
  summary: "Send text to a session. It is recorded first and typed once; the answer says whether it was delivered, refused, or waits.",
  method: "POST",
  path: "/v1/sessions/{session}/messages",
  effect: "change",
  callers: ["operator"],
  input: z.object({
    session: sessionReference,
    text: z.string(),
    /** Press Enter after it. */
    submit: z._default(z.boolean(), true),
    /** How long to wait for the outcome before answering "admitted". */
    timeout_seconds: z._default(z.number().check(z.minimum(0), z.maximum(60)), 5),
  }),
  output: z.object({
    message_id: z.string(),
    session_id: z.string(),
    state: z.enum(["admitted", "leased", "delivered", "refused", "unknown"]),
    detail: z.nullable(z.string()),
    admitted_at: z.string(),
    cursor: z.number(),
  }),

  async run(input, context) {
    const { store, supervisor } = context;
    const session = resolveSession(store.registry, input.session);
    const cursor = store.log.head();
    const messageId = await idempotent(context, "send_message", async (record) => {
      requireText(input.text);
      if (!mayTakeMessagesLater(session)) {
        throw new ReeveError({ code: "session-ended", kind: "conflict", message: `Session ${session.name} has ended and takes no messages; restart it first.` });
      }
      const id = newMessageId();
      await supervisor.send(session, { id, text: input.text, submit: input.submit }, record(id));
      return id;
    });
    const isSettled = (): boolean => !["admitted", "leased"].includes(store.mailbox.get(messageId)?.state ?? "unknown");
    await until(context, isSettled, input.timeout_seconds * 1_000);
    const message = store.mailbox.get(messageId);
    if (message === undefined) throw new ReeveError({ code: "internal", kind: "internal", message: `Message ${messageId} was recorded but is not there.` });
    return { message_id: messageId, session_id: session.id, state: message.state, detail: message.detail, admitted_at: iso(message.admittedAt), cursor };
  },
});

/** What can be typed byte for byte: no control character but tab and line feed, which a terminal would act on. */
function requireText(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_PASTE_BYTES) {
    throw new ReeveError({
      code: "message-too-long",
      kind: "usage",
      message: `The message has ${bytes} bytes and ${MAX_PASTE_BYTES} are the most; put it into a file and send its path.`,
    });
  }
  if (bytes === 0) throw new ReeveError({ code: "message-empty", kind: "usage", message: "The message is empty; give some text." });
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.exec(text);
  if (control === null) return;
  const code = control[0].charCodeAt(0).toString(16).padStart(4, "0");
  throw new ReeveError({
    code: "message-not-text",
    kind: "usage",
    message: `The message contains the control character U+${code} at position ${control.index}, which a terminal would act on; remove it (line feed and tab are fine).`,
  });
}
