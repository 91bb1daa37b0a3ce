/** Takes back a mail that nobody has read yet. */
import * as z from "zod/mini";
import { callerName } from "../session/caller.ts";
import { defineOperation } from "./contract.ts";
import { mailReference, mailSchema, notYours, ownMail, viewMail } from "./mail-view.ts";

export const retractMail = defineOperation({
  name: "retract_mail",
  summary:
    "Take back a mail that you sent, as long as it is unread. What it said is deleted; its recipient sees that there was one.",
  method: "POST",
  path: "/v1/mail/{mail}/retract",
  effect: "end",
  callers: { operator: "any", session: "self" },
  example: { mail: "mail-k3v9xw2apq" },
  names: [],
  about: ["mail"],
  input: () => z.object({ mail: mailReference }),
  output: () => mailSchema,

  async run(input, context) {
    const { mail } = await ownMail(context, input.mail);
    if (mail.from.caller !== callerName(context.caller)) throw notYours(mail.id, "only its sender may retract it");
    const now = await context.supervisor.mail.change(mail.id, "retract", context.caller);
    return viewMail(context.store.registry, now);
  },
});
