/** One mail with its whole text. When its recipient reads it, it is no longer unread. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { text } from "./field.ts";
import { mailFields, mailReference, noteOn, ownMail, safe, viewMail } from "./mail-view.ts";

export const readMail = defineOperation({
  name: "read_mail",
  summary:
    "Read a mail: its whole text. If it is your own, it counts as read from then on. Whoever sent a mail, and the operator, see with it what became of it, and change nothing.",
  method: "POST",
  path: "/v1/mail/{mail}/read",
  effect: "change",
  callers: { operator: "any", session: "self" },
  example: { mail: "mail-k3v9xw2apq" },
  names: [],
  about: ["mail"],
  input: () => z.object({ mail: mailReference }),
  output: () =>
    z
      .object({
        note: text("Who wrote the text that follows, and how to take it."),
        ...mailFields(),
        body: text("Its text, as its sender wrote it; empty where it was retracted."),
      })
      .register(z.globalRegistry, { id: "WholeMail", description: "A mail with its text." }),

  async run(input, context) {
    const { mail, part } = await ownMail(context, input.mail);
    const now = part === "recipient" ? await context.supervisor.mail.change(mail.id, "read", context.caller) : mail;
    const view = viewMail(context.store.registry, now);
    return { note: noteOn(view), ...view, body: safe(now.body) };
  },
});
