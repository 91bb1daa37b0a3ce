/** Puts a mail away: `check_mail` does not show it any more unless asked to. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { mailReference, mailSchema, notYours, ownMail, viewMail } from "./mail-view.ts";

export const archiveMail = defineOperation({
  name: "archive_mail",
  summary: "Archive a mail that you are done with, read or not. It is kept, but no longer shown with the others.",
  method: "POST",
  path: "/v1/mail/{mail}/archive",
  effect: "change",
  callers: { operator: "any", session: "self" },
  example: { mail: "mail-k3v9xw2apq" },
  names: [],
  about: ["mail"],
  input: () => z.object({ mail: mailReference }),
  output: () => mailSchema,

  async run(input, context) {
    const { mail, part } = await ownMail(context, input.mail);
    if (part === "sender" && context.caller.kind === "session")
      throw notYours(mail.id, "its recipient may archive it, and the operator");
    const now = await context.supervisor.mail.change(mail.id, "archive", context.caller);
    return viewMail(context.store.registry, now);
  },
});
