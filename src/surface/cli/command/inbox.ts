import { createInterface } from "node:readline/promises";
import { isatty } from "node:tty";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { answer, answerInWords } from "../answer.ts";
import { callerEnvironment } from "../caller-environment.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CliContext, CommandInput } from "../command.ts";
import { ANSWER_WORDS, answerOf, type GivenAnswer, keysFor } from "../inbox-answer.ts";
import { answeredText, inboxFooter, type InboxItemView, inboxTable, itemText, type Listed } from "../inbox-text.ts";

const ACTIONS = ["list", "next", "show", "answer"] as const;

export const inboxCommand: CliCommand = {
  name: "inbox",
  takesKey: true,
  summary: "show what needs you, over all sessions, and answer it in place",
  arguments: [
    { name: "action", isOptional: true, choices: ACTIONS },
    { name: "item", isOptional: true },
    { name: "answer", isOptional: true, completion: ANSWER_WORDS },
    { name: "text", isOptional: true, isRepeated: true },
  ],
  options: [
    { name: "all", short: "a", summary: "list: also what you acknowledged or put off, and what is over" },
    {
      name: "session",
      value: "SESSION",
      summary: "list, next: only what is about this session",
      completion: "session",
    },
  ],
  notes: [
    "Order: sessions that ask something or stalled, what failed, what finished and was not seen yet, then the rest; of each, what has waited longest.",
    "An item keeps its number until it is over, and no other item ever gets it. So a number means the same thing when you use it as when you saw it.",
    "reeve inbox next shows the first item in full, and reeve inbox show 3 the item 3. On a terminal they ask you for the answer.",
    "ack takes note of an item: it leaves the list, and comes back only if it gets worse. snooze puts it off for a while (30m, 2h, 1d) or until a time. seen is the same as ack.",
    "An item closes by itself when it is over, for example when somebody answers in the terminal.",
  ],
  examples: [
    { line: "reeve inbox", does: "see what needs you" },
    { line: "reeve inbox next", does: "see the first item in full, and answer it" },
    { line: "reeve inbox show 3", does: "see item 3 in full, and answer it" },
    { line: "reeve inbox answer 3 approve", does: "approve what item 3 asks" },
    { line: 'reeve inbox answer 4 reply "Use the staging database"', does: "type a reply into its session" },
    { line: "reeve inbox answer 5 snooze 30m", does: "be reminded in half an hour" },
    { line: "reeve inbox --all --json", does: "everything, as JSON for a program" },
  ],

  async run(input, context) {
    const [action = "list", ...words] = input.arguments;
    if (action === "answer") return await giveAnswer(context, input, words);
    if (action === "show") return await showOne(context, input, words);
    if (words.length > 0) throw unexpected(action, words[0]);
    return action === "next" ? await showNext(context, input) : await list(context, input);
  },
};

function unexpected(action: string, word = ""): Error {
  return usage(
    "unexpected-argument",
    `inbox ${action} does not know what to do with "${word}"; see reeve inbox --help.`,
  );
}

async function list(context: CliContext, input: CommandInput): Promise<number> {
  const listed = await context.client().listInbox({ all: input.flag("all"), ...sessionOf(input) });
  if (listed.items.length === 0 && !context.isJson) {
    context.output.note("Nothing needs you.");
    return 0;
  }
  const table = context.isJson ? "" : await inboxTable(listed, context.output, Date.now());
  answer(context, listed, () => table);
  for (const line of context.isJson ? [] : inboxFooter(listed)) context.output.note(line);
  return 0;
}

function sessionOf(input: CommandInput): { readonly session?: string } {
  const session = input.text("session");
  return session === undefined ? {} : { session };
}

async function showNext(context: CliContext, input: CommandInput): Promise<number> {
  if (input.flag("all")) throw usage("unknown-option", "inbox next has no option --all; it belongs to inbox.");
  const listed = await context.client().listInbox(sessionOf(input));
  if (listed.items.length > 0 || context.isJson) return await show(context, listed, listed.items[0] ?? null);
  context.output.note("Nothing needs you.");
  return 0;
}

async function showOne(context: CliContext, input: CommandInput, [number, more]: readonly string[]): Promise<number> {
  refuseOptions(input, "show");
  if (number === undefined) throw usage("missing-argument", "inbox show needs the number of an item; see reeve inbox.");
  if (more !== undefined) throw unexpected("show", more);
  const listed = await context.client().listInbox({ all: true });
  const item = listed.items.find((one) => String(one.number) === number || one.item_id === number);
  if (item !== undefined) return await show(context, listed, item);
  throw new ReeveError({
    code: "unknown-item",
    kind: "not-found",
    message: `There is no item ${number} in the inbox, and none of the last that are over; see reeve inbox --all.`,
  });
}

async function show(context: CliContext, { open, cursor }: Listed, item: InboxItemView | null): Promise<number> {
  const isAsked = item?.state !== "closed" && !context.isJson && isatty(0) && context.output.isTerminal;
  const text = item === null || context.isJson ? "" : await itemText(item, context.output, Date.now(), isAsked);
  answer(context, { item, open, cursor }, () => text);
  return item === null || !isAsked ? 0 : await ask(context, item);
}

/** Until the answer is one. Nothing, or the end of the input, leaves the item as it is. */
async function ask(context: CliContext, { item_id: item, answers }: InboxItemView): Promise<number> {
  context.output.note(`Your answer: ${keysFor(answers)}; Enter leaves it.`);
  for (;;) {
    const line = (await readAnswer()).trim();
    if (line === "") return 0;
    const given = understood(context, line);
    if (given !== null) return await send(context, item, given);
  }
}

function understood(context: CliContext, line: string): GivenAnswer | null {
  try {
    return answerOf(line.split(/\s+/), Date.now(), true);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    context.output.note(error.message);
    return null;
  }
}

async function readAnswer(): Promise<string> {
  // Not as a terminal: Ctrl-C stays the signal that ends the command.
  const question = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const closed = new Promise<string>((resolve) => question.once("close", () => resolve("")));
    return await Promise.race([question.question("> "), closed]);
  } finally {
    question.close();
  }
}

async function giveAnswer(
  context: CliContext,
  input: CommandInput,
  [item, ...words]: readonly string[],
): Promise<number> {
  refuseOptions(input, "answer");
  if (item === undefined || words.length === 0)
    throw usage("missing-argument", "inbox answer needs the number of an item and an answer; see reeve inbox.");
  return await send(context, item, answerOf(words, Date.now()));
}

function refuseOptions(input: CommandInput, action: "show" | "answer"): void {
  const option = ["all", "session"].find((name) => input.flag(name));
  if (option !== undefined)
    throw usage("unknown-option", `inbox ${action} has no option --${option}; it belongs to inbox.`);
}

async function send(context: CliContext, item: string, given: GivenAnswer): Promise<number> {
  const brought = given.answer === "restart" ? { environment: callerEnvironment(context) } : {};
  const answered = await context.client().answerInbox({ item, ...given, ...brought });
  answerInWords(context, answered, () => answeredText(answered, given.answer, Date.now()));
  // A message that waits is recorded; an approval that did not arrive is not.
  return answered.done || (given.answer !== "approve" && given.answer !== "deny") ? 0 : 1;
}
