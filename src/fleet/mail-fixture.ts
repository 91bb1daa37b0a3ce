/** For tests only: a mail from one session to another. */
import { type Mail, type NewMail, posted } from "./mail.ts";

export function newMail(id: string, changes: Partial<NewMail> = {}): NewMail {
  return {
    id,
    thread: "thread-a",
    from: { caller: "session:alpha", name: "builder" },
    to: "beta",
    addressed: "session",
    subject: "The parser",
    body: "It is done.",
    kind: "note",
    priority: "normal",
    inReplyTo: null,
    sentAt: 1_700_000_000_000,
    ...changes,
  };
}

export function mailWith(id: string, seq: number, changes: Partial<Mail> = {}): Mail {
  return { ...posted(newMail(id), seq), ...changes };
}
