/**
 * Answers an item of the inbox in place. It does nothing itself: each answer is
 * one of the other operations on the item's session, or a note on the item.
 */
import * as z from "zod/mini";
import type { InboxItem } from "../fleet/inbox.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { INBOX_ANSWERS, type InboxAnswer } from "../session/inbox-kind.ts";
import { acknowledgeSession } from "./acknowledge-session.ts";
import { answerApproval } from "./answer-approval.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { endSession } from "./end-session.ts";
import { environment as environmentSchema, seconds, textOrNull, yesOrNo } from "./field.ts";
import { idempotent, type RecordFor } from "./idempotency.ts";
import { inboxItemSchema, itemReference, resolveItem, viewItem } from "./inbox-view.ts";
import { restartSession } from "./restart-session.ts";
import { sendMessage } from "./send-message.ts";

const MOST_SNOOZE_SECONDS = 30 * 86_400;

export const answerInbox = defineOperation({
  name: "answer_inbox",
  summary:
    "Answer an item of the inbox: approve, deny, reply, interrupt, restart, end, acknowledge it, or put it off (snooze).",
  method: "POST",
  path: "/v1/inbox/{item}",
  effect: "end",
  callers: { operator: "any", session: "none" },
  example: { item: "3", answer: "approve" },
  names: [],
  about: ["item"],
  input: () =>
    z.object({
      item: itemReference,
      answer: z.enum(INBOX_ANSWERS).check(z.describe("One of the item's `answers`.")),
      text: z
        .optional(z.string().check(z.minLength(1, "some text")))
        .check(z.describe("For reply and interrupt: what to type into the session.")),
      for_seconds: z
        .optional(seconds(MOST_SNOOZE_SECONDS))
        .check(z.describe("For snooze: after how long the item comes back.")),
      until: z
        .optional(z.iso.datetime({ offset: true, error: "an instant, such as 2026-11-17T18:00:00Z" }))
        .check(z.describe("For snooze, instead of `for_seconds`: when the item comes back.")),
      environment: z.optional(environmentSchema).check(
        z.meta({
          description:
            "For restart: your environment. It is used only where the one that the session was started with is gone.",
          writeOnly: true,
        }),
      ),
    }),
  output: () =>
    z.object({
      done: yesOrNo("False: your answer is recorded and being carried out, or it did not arrive; `note` says which."),
      item: inboxItemSchema.check(z.describe("The item as it is now.")),
      note: textOrNull("What came of your answer, in a sentence."),
    }),

  async run(input, context) {
    const { supervisor } = context;
    const { id } = await resolveItem(supervisor, input.item);
    // Of two who answer at the same moment, the second finds what came of the first.
    return await supervisor.inbox.answering(id, () => answered(input, context));
  },
});

async function answered(input: Given & { readonly item: string }, context: OperationContext) {
  const { store, supervisor, clock, idempotency } = context;
  const item = await resolveItem(supervisor, input.item);
  requireFitting(item, input);
  const isRepeat = idempotency !== null && store.idempotency(idempotency.key) !== undefined;
  if (item.state === "closed" && !isRepeat) throw over(item);
  const untilAt = input.answer === "snooze" ? comesBackAt(input, clock.now()) : 0;
  const outcome = await carry(context, item, { ...input, untilAt });
  await supervisor.inbox.settled();
  return { ...outcome, item: viewItem(store.registry, (await supervisor.inbox.find(item.id)) ?? item) };
}

interface Given {
  readonly answer: InboxAnswer;
  readonly text?: string | undefined;
  readonly for_seconds?: number | undefined;
  readonly until?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

interface Outcome {
  readonly done: boolean;
  readonly note: string | null;
}

async function carry(
  context: OperationContext,
  item: InboxItem,
  { answer, text = "", untilAt, environment }: Given & { readonly untilAt: number },
): Promise<Outcome> {
  const session = item.sessionId ?? "";
  switch (answer) {
    case "approve":
      return await decide(context, item, "approved");
    case "deny":
      return await decide(context, item, "denied");
    case "reply":
    case "interrupt": {
      const how = answer === "reply" ? "queue" : "interrupt";
      const sent = await sendMessage.run({ session, text, submit: true, how, timeout_seconds: 5 }, context);
      const why = sent.detail === null ? "" : ` (${sent.detail})`;
      return { done: sent.state === "delivered", note: `${MESSAGE_WORDS[sent.state]}${why}.` };
    }
    case "restart": {
      const { done, note } = await restartSession.run(
        { session, if_gone: false, timeout_seconds: 45, environment },
        context,
      );
      return { done, note: note ?? (done ? "It was started again." : "It is being started again.") };
    }
    case "end": {
      const { done, note } = await endSession.run(
        { session, when: "now", even_if_held: item.kind === "hold", worktree: "keep" },
        context,
      );
      return { done, note: note ?? (done ? "The session was ended." : "The session is being ended.") };
    }
    case "acknowledge":
      return await takeNote(context, item);
    case "snooze":
      await noted(context, item, async (record) =>
        context.supervisor.inbox.snooze(item.id, untilAt, { caller: context.caller, idempotency: record(item.id) }),
      );
      return { done: true, note: null };
  }
}

const MESSAGE_WORDS = {
  admitted: "Your message waits",
  leased: "Your message is being typed",
  delivered: "The agent took your message",
  refused: "Your message will not be typed",
  unknown: "Your message was typed, and nobody could see whether it was taken",
} as const;

async function decide(
  context: OperationContext,
  { sessionId, approvalId }: InboxItem,
  decision: "approved" | "denied",
): Promise<Outcome> {
  const request = { session: sessionId ?? "", decision, ...(approvalId === null ? {} : { approval_id: approvalId }) };
  const answered = await answerApproval.run(request, context);
  const done = answered.state === "settled" && answered.decision === decision;
  const detail = answered.detail === null ? "" : ` (${answered.detail})`;
  return { done, note: done ? `It took effect${detail}.` : `Not ${decision}${detail}.` };
}

/** Who has taken note of how a session's turn or process ended has seen it: then every surface stops pointing at it. */
async function takeNote(context: OperationContext, item: InboxItem): Promise<Outcome> {
  const { store, supervisor, caller } = context;
  await noted(context, item, async (record) =>
    supervisor.inbox.acknowledge(item.id, { caller, idempotency: record(item.id) }),
  );
  if (item.sessionId !== null && store.registry.get(item.sessionId) !== undefined && item.newsRevision > 0)
    await acknowledgeSession.run(
      { session: item.sessionId, revision: item.newsRevision },
      { ...context, idempotency: null },
    );
  return { done: true, note: null };
}

async function noted(
  context: OperationContext,
  item: InboxItem,
  note: (record: RecordFor) => Promise<InboxItem | undefined>,
): Promise<void> {
  await idempotent(context, "answer_inbox", async (record) => {
    // It may have closed since it was looked at; then there is nothing to note.
    const now = await note(record);
    if (now === undefined) throw over((await context.supervisor.inbox.find(item.id)) ?? item);
    return item.id;
  });
}

const TAKES_TEXT: readonly InboxAnswer[] = ["reply", "interrupt"];

function requireFitting(item: InboxItem, { answer, text, for_seconds, until }: Given): void {
  if (!item.answers.includes(answer))
    throw unfit(
      "answer-does-not-fit",
      `Item ${item.number} (${item.kind}) cannot be answered with ${answer}; it takes ${item.answers.join(", ")}.`,
    );
  const takesText = TAKES_TEXT.includes(answer);
  if (takesText && text === undefined) throw unfit("missing-text", `${answer} needs a text; say what to type.`);
  if (!takesText && text !== undefined)
    throw unfit("unexpected-text", `${answer} takes no text; leave it out, or use reply.`);
  const times = [for_seconds, until].filter((given) => given !== undefined).length;
  if (answer === "snooze" && times !== 1)
    throw unfit("missing-time", "snooze needs a time: give for_seconds or until, and not both.");
  if (answer !== "snooze" && times > 0) throw unfit("unexpected-time", `${answer} takes no time; leave it out.`);
}

function comesBackAt({ for_seconds: forSeconds, until }: Given, now: number): number {
  const untilAt = until === undefined ? now + (forSeconds ?? 0) * 1_000 : Date.parse(until);
  if (untilAt <= now)
    throw unfit("time-passed", "An item cannot be put off until a moment that has passed; give a later one.");
  if (untilAt - now > MOST_SNOOZE_SECONDS * 1_000)
    throw unfit("time-too-far", "An item cannot be put off for more than 30 days; acknowledge it instead.");
  return untilAt;
}

function unfit(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}

function over({ number, closed }: InboxItem): ReeveError {
  return new ReeveError({
    code: "item-closed",
    kind: "conflict",
    message: `Item ${number} is over: ${closed?.why ?? "it was closed."} See what is open with: reeve inbox.`,
  });
}
