/** The story of a session as the API shows it, and where operations get it from. */
import * as z from "zod/mini";
import { redact } from "../capture/redaction.ts";
import { mailKind, type Mail, OPERATOR_BOX } from "../fleet/mail.ts";
import type { Session } from "../session/session.ts";
import { STORY_KINDS, STORY_SOURCES } from "../session/story/entry.ts";
import type { StoryEvent, StoryMail } from "../session/story/log-part.ts";
import { readStory, type Story } from "../supervisor/story/read-story.ts";
import type { OperationContext } from "./contract.ts";
import { count, instant, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { safe, viewMail } from "./mail-view.ts";
import { viewEvent } from "./read-events.ts";
import { iso } from "./session-view.ts";

export const storyEntrySchema = whenUsed(() =>
  z
    .object({
      source: z
        .enum(STORY_SOURCES)
        .check(z.describe("Where it comes from: Reeve's log, the agent's transcript, or the recorded model traffic.")),
      seq: count("Grows within a source."),
      at: instant("When, as the clock of the machine was then."),
      kind: z.enum(STORY_KINDS).check(z.describe("What it is about.")),
      type: text("The type of the event, or `said`, `tool-call`, `tool-result`, `model-call`, `capture-dropped`."),
      turn: z.nullable(z.int()).check(z.describe("In which turn; null: in none.")),
      actor: text(
        "Who did it: `operator`, `session:<id>`, `rule:<name>`, `user`, `agent`, `tool`, `system`, `terminal` (a person in its terminal) or `reeve`.",
      ),
      what: text("What happened, in one line."),
      text: textOrNull(
        "What was said, or a tool was called with, at most 16,384 characters; null where `what` says all.",
      ),
      failed: yesOrNo("Whether something went wrong."),
      ms: z
        .nullable(z.number())
        .check(z.meta({ description: "How long it took; null where nobody knows.", "x-unit": "milliseconds" })),
      data: z
        .record(z.string(), z.unknown())
        .check(
          z.describe("All that is known of it: the data of the event, the tool's input and result, the exchange."),
        ),
    })
    .register(z.globalRegistry, { id: "StoryEntry", description: "One thing that happened in a session." }),
);

/** Events at once. */
const PAGE = 1_000;

export async function eventsOf(
  { store }: Pick<OperationContext, "store">,
  session: Session,
): Promise<readonly StoryEvent[]> {
  const found: StoryEvent[] = [];
  for (let after = 0; ;) {
    const events = await store.log.read({ after, limit: PAGE, sessionIds: [session.id] });
    found.push(...events.map(viewEvent));
    const last = events.at(-1);
    if (last === undefined || events.length < PAGE) return found;
    after = last.seq;
  }
}

/** That it got or sent, oldest first. */
export async function mailsOf({ store }: Pick<OperationContext, "store">, session: Session): Promise<readonly Mail[]> {
  const mails: Mail[] = [];
  for (let after: number | null = 0; after !== null;) {
    const { found, next }: Awaited<ReturnType<ReturnType<typeof store.records<Mail>>["scan"]>> = await store
      .records(mailKind)
      .scan(after);
    for (const { record } of found)
      if (record.to === session.id || record.from.caller === `session:${session.id}`) mails.push(record);
    after = next;
  }
  return mails;
}

/** With what it was made of. */
export interface ToldSession {
  readonly story: Story;
  readonly events: readonly StoryEvent[];
  readonly mails: readonly Mail[];
  readonly secrets: readonly string[];
}

export async function storyOf(context: OperationContext, session: Session): Promise<ToldSession> {
  const { supervisor } = context;
  const secrets = await supervisor.secretsOf(session);
  const events = await eventsOf(context, session);
  const mails = await mailsOf(context, session);
  const story = await readStory({
    session,
    agent: supervisor.agent(session.identity.agent),
    files: supervisor.runtime(session.identity.runtime).files,
    events,
    mails: mails.map((mail) => storyMail(context, session, mail)),
    redact: (given) => redact(given, secrets),
  });
  return { story, events, mails, secrets };
}

function storyMail({ store }: OperationContext, session: Session, mail: Mail): StoryMail {
  const view = viewMail(store.registry, mail);
  const isSent = mail.to !== session.id;
  const other = isSent ? view.to : view.from;
  return {
    seq: mail.seq,
    at: iso(mail.sentAt),
    isSent,
    with:
      other.kind === "session"
        ? (other.name ?? other.session_id ?? "")
        : other.kind === "system"
          ? "Reeve"
          : `the ${OPERATOR_BOX}`,
    actor: mail.from.caller === "system" ? "reeve" : mail.from.caller,
    kind: mail.kind,
    subject: view.subject,
    body: safe(mail.body),
  };
}
