/**
 * Takes secrets out of what is said about an item of work before it is recorded:
 * those of the session that says it and of the one that works on it, and what
 * has the shape of one. Like mail, it is read from the record by others, so a
 * secret is gone for good.
 */
import { redact } from "../../capture/redaction.ts";
import type { WorkChange } from "../../fleet/work-change.ts";
import type { Caller } from "../../session/caller.ts";
import type { WorkBook } from "../ledger/work-book.ts";
import { type SecretSources, secretsOfSession } from "./mail-secrets.ts";

export function redactingWork(book: WorkBook, sources: SecretSources): WorkBook {
  async function cleaner(sessionIds: readonly (string | null | undefined)[]): Promise<(text: string) => string> {
    const ids = [...new Set(sessionIds)].filter((id) => typeof id === "string");
    const secrets = (await Promise.all(ids.map((id) => secretsOfSession(id, sources)))).flat();
    return (text) => redact(text, secrets);
  }

  return {
    ...book,
    async add(work, wish) {
      const clean = await cleaner([idOf(wish.caller)]);
      return book.add({ ...work, title: clean(work.title), body: clean(work.body) }, wish);
    },
    async change(workId, change, wish) {
      const item = await book.get(workId);
      const clean = await cleaner([idOf(wish.caller), item?.flight?.sessionId, item?.sessions.at(-1)]);
      if (typeof change !== "function") return book.change(workId, redacted(change, clean), wish);
      const decide: typeof change = (now) => {
        const decided = change(now);
        return decided === null ? null : redacted(decided, clean);
      };
      return book.change(workId, decide, wish);
    },
  };
}

function redacted<Change extends WorkChange>(change: Change, clean: (text: string) => string): Change;
function redacted(change: WorkChange, clean: (text: string) => string): WorkChange {
  switch (change.type) {
    case "edit": {
      const { title, body } = change.fields;
      const texts = {
        ...(title === undefined ? {} : { title: clean(title) }),
        ...(body === undefined ? {} : { body: clean(body) }),
      };
      return { ...change, fields: { ...change.fields, ...texts } };
    }
    case "verified":
      return { ...change, verification: { ...change.verification, text: clean(change.verification.text) } };
    case "done":
      return change.text === null ? change : { ...change, text: clean(change.text) };
    case "built":
    case "approve":
    case "request-changes":
      return { ...change, text: clean(change.text) };
    case "release":
    case "reset-review":
    case "fail":
    case "cancel":
      return { ...change, why: clean(change.why) };
    case "begin":
    case "finalise":
    case "retry":
      return change;
  }
}

function idOf(caller: Caller): string | null {
  return caller.kind === "session" ? caller.id : null;
}
