/** An item of the inbox as every surface shows it, and how it is named. */
import * as z from "zod/mini";
import { INBOX_STATES, type InboxItem } from "../fleet/inbox.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { INBOX_ANSWERS, INBOX_KINDS, INBOX_URGENCIES } from "../session/inbox-kind.ts";
import type { Registry } from "../store/contract.ts";
import type { Supervisor } from "../supervisor/contract.ts";
import { count, instant, instantOrNull, text, textOrNull, whenUsed } from "./field.ts";
import { iso } from "./session-view.ts";

export const itemReference = z
  .string()
  .check(
    z.regex(/^(?:[1-9][0-9]{0,8}|inbox-[0-9a-f]{1,32})$/, "the number of an item, such as 3, or its id"),
    z.describe("The item, by its number or its id. An item keeps its number, and no other item ever gets it."),
  );

export const inboxItemSchema = whenUsed(() =>
  z
    .object({
      item_id: text("The item; the same for the same thing."),
      number: count("The number by which you can name it. No other item ever gets it."),
      kind: z.enum(INBOX_KINDS).check(z.describe("What it is about.")),
      urgency: z
        .enum(INBOX_URGENCIES)
        .check(z.describe("In the order in which items are shown: blocked, failed, finished, other.")),
      state: z
        .enum(INBOX_STATES)
        .check(
          z.describe(
            "open: it waits for you. acknowledged: you took note of it, and it is still so. snoozed: you put it off. closed: it is over.",
          ),
        ),
      session_id: textOrNull("The session that it is about; null where it is about none."),
      session_name: textOrNull("The name of that session now; null where it is about none."),
      title: text("What happened, in one line."),
      happened: text("What happened."),
      reeve_did: text("What Reeve did about it; empty where there was nothing to do."),
      suggestion: text("What Reeve suggests."),
      answers: z
        .array(z.enum(INBOX_ANSWERS))
        .check(z.describe("What you can answer with `answer_inbox`. `reply` and `interrupt` take a text.")),
      approval_id: textOrNull("The question that it is about; null where it is about none."),
      since: instant("Since when it is so."),
      opened_at: instant("When it came into the inbox."),
      snoozed_until: instantOrNull("When it comes back; null where you did not put it off."),
      closed_at: instantOrNull("Since when it is over; null where it is not."),
      closed_why: textOrNull("Why it is over; null where it is not."),
    })
    .register(z.globalRegistry, { id: "InboxItem", description: "Something that needs the operator." }),
);

export type InboxItemView = z.infer<typeof inboxItemSchema>;

export function viewItem(registry: Registry, item: InboxItem): InboxItemView {
  const { sessionId, snoozed, closed } = item;
  return {
    item_id: item.id,
    number: item.number,
    kind: item.kind,
    urgency: item.urgency,
    state: item.state,
    session_id: sessionId,
    session_name: sessionId === null ? null : (registry.get(sessionId)?.identity.name ?? sessionId),
    title: item.title,
    happened: item.happened,
    reeve_did: item.did,
    suggestion: item.suggests,
    answers: [...item.answers],
    approval_id: item.approvalId,
    since: iso(item.sinceAt),
    opened_at: iso(item.openedAt),
    snoozed_until: snoozed === null ? null : iso(snoozed.untilAt),
    closed_at: closed === null ? null : iso(closed.at),
    closed_why: closed?.why ?? null,
  };
}

export async function resolveItem({ inbox }: Supervisor, reference: string): Promise<InboxItem> {
  await inbox.settled();
  const item = await inbox.find(reference);
  if (item !== undefined) return item;
  throw new ReeveError({
    code: "unknown-item",
    kind: "not-found",
    message: `There is no item ${reference} in the inbox; see what is there with: reeve inbox.`,
  });
}
