/** Sends mail to a session, to all sessions of a role, or to the operator. */
import * as z from "zod/mini";
import { made } from "./field.ts";
import {
  type Addressed,
  type Mail,
  MAIL_KINDS,
  MAIL_PRIORITIES,
  MOST_BODY_BYTES,
  MOST_SUBJECT_CHARACTERS,
  type NewMail,
  OPERATOR_BOX,
  replySubject,
  subjectOf,
} from "../fleet/mail.ts";
import { requireRoom } from "../platform/disk-room.ts";
import { newMailId, newThreadId } from "../platform/ids.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { type Caller, callerName } from "../session/caller.ts";
import { defineOperation, type OperationContext } from "./contract.ts";
import { idempotent } from "./idempotency.ts";
import { recipientsOf } from "./mail-recipients.ts";
import { mailReference, mailSchema, ownMail, viewMail } from "./mail-view.ts";

export const sendMail = defineOperation({
  name: "send_mail",
  summary:
    "Send mail to a session, a role or the operator. It waits there until it is read; it is not typed into the session, for which there is send_message.",
  method: "POST",
  path: "/v1/mail",
  effect: "change",
  callers: { operator: "any", session: "any" },
  example: { to: "reviewer", subject: "The parser is done", body: "Please review branch parser.", kind: "hand-off" },
  names: [],
  about: ["to", "in_reply_to"],
  input: () =>
    z.object({
      to: z
        .optional(
          z
            .string()
            .check(z.regex(/^(?:role:)?[a-z0-9][a-z0-9-]{0,63}$/, "a session, `role:` and a role, or `operator`")),
        )
        .check(
          z.describe(
            "A session (its id, its name, or the beginning of its id), `role:<role>` for every other session of that role that has not ended, or `operator`. May be left out of an answer: then it goes to whoever sent that mail.",
          ),
        ),
      body: z.string().check(z.minLength(1, "some text"), z.describe("What to say, up to 64 KB.")),
      subject: z
        .optional(z.string().check(z.maxLength(MOST_SUBJECT_CHARACTERS)))
        .check(
          z.describe(
            "What it is about, in one line. By default how the text begins; of an answer, the subject of what it answers.",
          ),
        ),
      kind: z
        ._default(z.enum(MAIL_KINDS), "note")
        .check(z.describe("hand-off: work that the recipient takes over. note: everything else.")),
      priority: z._default(z.enum(MAIL_PRIORITIES), "normal").check(z.describe("How urgent it is.")),
      in_reply_to: z
        .optional(mailReference)
        .check(z.describe("The mail that this answers; it becomes part of that thread.")),
    }),
  output: () =>
    z.object({
      thread_id: made(mailSchema).shape.thread_id,
      mails: z.array(mailSchema).check(z.describe("What was sent: one for each recipient, as it is now.")),
    }),

  async run(input, context) {
    const { store, supervisor, caller } = context;
    const sent = await idempotent(context, "send_mail", async (record) => {
      requireFitting(input.body);
      if (input.body.length > SHORT_TEXT) requireRoom(context.outputsDir);
      const answered = input.in_reply_to === undefined ? null : (await ownMail(context, input.in_reply_to)).mail;
      const to = input.to ?? (answered === null ? missingRecipient() : counterpart(answered, caller));
      const { recipients, addressed } = recipientsOf(to, context);
      const mails = recipients.map((recipient) => written(input, context, { recipient, addressed, answered }));
      const [first] = mails;
      const thread = answered?.thread ?? newThreadId();
      const ids = mails.map(({ id }) => id).join(" ");
      if (first === undefined) throw new Error("mail without a recipient");
      await supervisor.mail.send(
        mails.map((mail) => ({ ...mail, thread })),
        { caller, idempotency: record(ids) },
      );
      return ids;
    });
    const mails = await Promise.all(sent.split(" ").map((id) => supervisor.mail.records.get(id)));
    const views = mails.flatMap((mail) => (mail === undefined ? [] : [viewMail(store.registry, mail)]));
    return { thread_id: views[0]?.thread_id ?? "", mails: views };
  },
});

/** A word to the operator must get through when the disk is full. */
const SHORT_TEXT = 4_096;

interface Written {
  readonly body: string;
  readonly subject?: string | undefined;
  readonly kind: NewMail["kind"];
  readonly priority: NewMail["priority"];
}

function written(
  { body, subject, kind, priority }: Written,
  { store, caller, clock }: OperationContext,
  about: { readonly recipient: string; readonly addressed: Addressed; readonly answered: Mail | null },
): Omit<NewMail, "thread"> {
  const { recipient, addressed, answered } = about;
  const sender = caller.kind === "session" ? store.registry.get(caller.id) : undefined;
  const given = subject?.replace(/\s+/g, " ").trim() ?? "";
  return {
    id: newMailId(),
    from: { caller: callerName(caller), name: sender?.identity.name ?? null },
    to: recipient,
    addressed,
    subject: given !== "" ? given : answered === null ? subjectOf(body) : replySubject(answered.subject),
    body,
    kind,
    priority,
    inReplyTo: answered?.id ?? null,
    sentAt: clock.now(),
  };
}

/** The other one of the two between whom it was sent. */
function counterpart(mail: Mail, caller: Caller): string {
  const sender = mail.from.caller;
  if (sender === callerName(caller)) return mail.to;
  return sender.startsWith("session:") ? sender.slice("session:".length) : OPERATOR_BOX;
}

function requireFitting(body: string): void {
  const bytes = Buffer.byteLength(body);
  if (bytes <= MOST_BODY_BYTES) return;
  throw new ReeveError({
    code: "mail-too-long",
    kind: "usage",
    message: `The mail has ${bytes} bytes, and at most ${MOST_BODY_BYTES} are allowed; put it into a file and send its path.`,
  });
}

function missingRecipient(): never {
  throw new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: "to is missing; it must be a session, role: and a role, or operator.",
    details: { field: "to" },
  });
}
