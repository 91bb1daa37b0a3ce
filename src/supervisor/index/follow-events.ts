/** Reads on in the event log, and hands events, the mail that they tell of, and the ends of turns to the index. */
import { type Mail, mailKind } from "../../fleet/mail.ts";
import type { LoggedEvent } from "../../session/event.ts";
import type { Store } from "../../store/contract.ts";
import type { Batch, Entry } from "../../search/contract.ts";
import type { SearchIndex } from "../../search/index-process.ts";
import { entryOfEvent, turnChangeOf } from "./event-entries.ts";

/** Made ready in 1 or 2 ms. */
const AT_ONCE = 100;

export async function followEvents(parts: {
  readonly store: Store;
  readonly index: Pick<SearchIndex, "write">;
  readonly epoch: string;
  readonly cursor: number;
  readonly onEvents: (events: readonly LoggedEvent[], cursor: number) => void;
  readonly pause: () => Promise<boolean>;
}): Promise<boolean> {
  const { store, index, epoch } = parts;
  let { cursor } = parts;
  while (cursor < store.log.head()) {
    const head = store.log.head();
    const events = await store.log.read({ after: cursor, limit: AT_ONCE });
    // What was removed at the end of the log leaves nothing to read.
    cursor = events.at(-1)?.seq ?? head;
    await index.write({ epoch, ...(await batchOf(store, events)), eventCursor: cursor });
    parts.onEvents(events, cursor);
    if (!(await parts.pause())) return false;
  }
  return true;
}

async function batchOf(store: Store, events: readonly LoggedEvent[]): Promise<Omit<Batch, "epoch">> {
  const { registry } = store;
  const sessionOf = (id: string | null) => (id === null ? undefined : registry.get(id));
  const entries = events.flatMap((event) => entryOfEvent(event, sessionOf(event.sessionId)) ?? []);
  const mails = await Promise.all(
    events.map(async ({ body }) =>
      body.type === "mail-sent" ? await store.records(mailKind).get(body.mailId) : undefined,
    ),
  );
  const turns = events.flatMap((event) => turnChangeOf(event) ?? []).filter(({ sessionId }) => sessionOf(sessionId));
  const about = turns.flatMap(({ sessionId }) => {
    const session = sessionOf(sessionId);
    return session === undefined ? [] : [[sessionId, { agent: session.identity.agent, role: session.identity.role }]];
  });
  return {
    entries: [...entries, ...mails.flatMap((mail) => (mail === undefined ? [] : (entryOfMail(mail, sessionOf) ?? [])))],
    turns,
    about: Object.fromEntries(about) as NonNullable<Batch["about"]>,
    removedMails: events.flatMap(({ body }) => (body.type === "mail-retracted" ? [body.mailId] : [])),
  };
}

/** Secrets were taken out of it before it was recorded. */
function entryOfMail(mail: Mail, sessionOf: (id: string) => ReturnType<Store["registry"]["get"]>): Entry | null {
  if (mail.state === "retracted") return null;
  const recipient = sessionOf(mail.to);
  const sender = mail.from.caller.startsWith("session:") ? mail.from.caller.slice("session:".length) : null;
  const about = recipient ?? (sender === null ? undefined : sessionOf(sender));
  return {
    kind: "mail",
    sessionId: mail.to === "operator" ? null : mail.to,
    peer: sender,
    agent: about?.identity.agent ?? null,
    role: about?.identity.role ?? null,
    at: mail.sentAt,
    who: mail.from.name ?? mail.from.caller,
    ref: mail.id,
    text: `${mail.subject}\n${mail.body}`,
  };
}
