import { isatty } from "node:tty";
import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { answer, answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { ActionSpec, CliCommand, CliContext, CommandInput } from "../command.ts";
import { mailFooter, mailTable, mailText, partyText } from "../mail-text.ts";
import { oneLine } from "../session-text.ts";
import { readStandardInput } from "../standard-input.ts";
import { givenText, readText } from "../text-input.ts";

const KINDS = ["note", "hand-off"] as const;
const PRIORITIES = ["low", "normal", "high"] as const;

const WRITING = ["subject", "hand-off", "priority", "file"];
const LOOKING = ["unread", "archived", "kind", "from", "thread", "of", "limit", "page"];

const MAILS = { words: "ID...", least: 1, most: Infinity, needs: "the id of a mail", options: [] } as const;

const ACTIONS = {
  check: { summary: "show your mail", words: "", least: 0, most: 0, options: LOOKING },
  send: {
    summary: "send a mail",
    words: "TO [TEXT]",
    least: 1,
    most: 2,
    needs: "whom it goes to, and a text",
    options: WRITING,
    completion: "session",
  },
  read: { ...MAILS, summary: "show the whole text; from then on it counts as read" },
  reply: {
    summary: "answer a mail",
    words: "ID [TEXT]",
    least: 1,
    most: 2,
    needs: "the id of a mail, and a text",
    options: WRITING,
  },
  archive: { ...MAILS, summary: "take it out of the list" },
  retract: { ...MAILS, summary: "take back what nobody has read yet" },
  search: {
    summary: "find mail by a text in it",
    words: "TEXT",
    least: 1,
    most: 1,
    needs: "the text to look for",
    options: LOOKING,
  },
} as const satisfies Readonly<Record<string, ActionSpec>>;
type Action = keyof typeof ACTIONS;

export const mailCommand: CliCommand = {
  name: "mail",
  takesKey: true,
  summary: "send mail to a session, a role or the operator, and read your own",
  arguments: [
    { name: "action", isOptional: true, choices: Object.keys(ACTIONS) },
    { name: "what", isOptional: true, isRepeated: true },
  ],
  actions: ACTIONS,
  options: [
    { name: "subject", value: "TEXT", summary: "send, reply: what it is about (default: how the text begins)" },
    { name: "hand-off", summary: "send, reply: pass work on to the recipient" },
    { name: "priority", value: "PRIORITY", choices: PRIORITIES, summary: "send, reply: how urgent it is" },
    { name: "file", value: "FILE", summary: "send, reply: the text is in this file", completion: "file" },
    { name: "unread", summary: "check, search: only what is unread" },
    { name: "archived", summary: "check, search: also what was archived" },
    { name: "kind", value: "KIND", choices: KINDS, summary: "check, search: only mail of this kind" },
    {
      name: "from",
      value: "SENDER",
      summary: "check, search: only from this session, or from operator",
      completion: "session",
    },
    { name: "thread", value: "THREAD", summary: "check, search: only this thread" },
    {
      name: "of",
      value: "SESSION",
      summary: "check, search: the mail of this session (outside of sessions only)",
      completion: "session",
    },
    { name: "limit", value: "N", type: "count", most: 200, summary: "check, search: at most so many (default 20)" },
    { name: "page", value: "PAGE", summary: "check, search: go on after an earlier page" },
  ],
  notes: [
    "Without an action it is check: unread mail first, by priority, newest first. read shows the whole text; from then on the mail counts as read.",
    "Send to a session by its name or id, to role:NAME for every other session of that role, or to operator. Inside a session you send and read as that session; outside you are the operator.",
    "Mail waits until it is read. To type something into a session, use reeve send.",
    "retract works while a mail is unread: the recipient then sees only that there was one.",
  ],
  examples: [
    { line: "reeve mail", does: "see your mail" },
    { line: 'reeve mail send reviewer "Branch parser is ready" --hand-off', does: "hand work over" },
    { line: "git diff | reeve mail send role:reviewer --subject diff", does: "send to all reviewers" },
    { line: "reeve mail read mail-k3v9xw2apq", does: "read one" },
    { line: 'reeve mail reply mail-k3v9xw2apq "Done, merged"', does: "answer it" },
    { line: "reeve mail search parser --of builder", does: "search the mail of a session" },
  ],

  async run(input, context) {
    const [given = "check", ...words] = input.arguments;
    const action = given as Action;
    switch (action) {
      case "send":
        return await send(input, context, { to: words[0] ?? "" }, words[1]);
      case "reply":
        return await send(input, context, { in_reply_to: words[0] ?? "" }, words[1]);
      case "read":
        return await read(context, words);
      case "archive":
      case "retract":
        return await settle(context, action, words);
      case "check":
      case "search":
        return await check(input, context, words[0]);
    }
  },
};

async function send(
  input: CommandInput,
  context: CliContext,
  where: { readonly to: string } | { readonly in_reply_to: string },
  text: string | undefined,
): Promise<number> {
  const subject = input.text("subject");
  const priority = PRIORITIES.find((known) => known === input.text("priority"));
  const sent = await context.client().sendMail({
    ...where,
    body: bodyOf(input, context, text),
    kind: input.flag("hand-off") ? "hand-off" : "note",
    ...(subject === undefined ? {} : { subject }),
    ...(priority === undefined ? {} : { priority }),
  });
  answerInWords(context, sent, () =>
    sent.mails.map((mail) => `Sent ${mail.mail_id} to ${partyText(mail.to)}: ${oneLine(mail.subject)}`).join("\n"),
  );
  return 0;
}

function bodyOf(input: CommandInput, context: CliContext, argument: string | undefined): string {
  const text = givenText(input, context, argument);
  if (text === null && isatty(0))
    throw usage("missing-argument", "The mail needs a text: give it as an argument, with --file, or pipe it in.");
  const body = text ?? readText(readStandardInput, "stdin", false);
  if (body === "") throw usage("bad-request", "The mail is empty; give some text.");
  return body;
}

async function check(input: CommandInput, context: CliContext, search: string | undefined): Promise<number> {
  const checked = await context.client().checkMail(searchOf(input, search));
  if (checked.mails.length === 0 && checked.next_page === null && !context.isJson) {
    context.output.note(search === undefined ? "No mail." : `No mail with "${oneLine(search)}".`);
    return 0;
  }
  const table = context.isJson ? "" : await mailTable(checked, context.output, Date.now());
  answer(context, checked, () => table);
  for (const line of context.isJson ? [] : mailFooter(checked)) context.output.note(line);
  return 0;
}

function searchOf(input: CommandInput, search: string | undefined): InputOf<"checkMail"> {
  const text = (name: string, field = name) => {
    const value = input.text(name);
    return value === undefined ? {} : { [field]: value };
  };
  const kind = KINDS.find((known) => known === input.text("kind"));
  const limit = input.number("limit");
  return {
    ...text("from"),
    ...text("thread"),
    ...text("of", "session"),
    ...text("page"),
    ...(input.flag("unread") ? { unread: true } : {}),
    ...(input.flag("archived") ? { archived: true } : {}),
    ...(kind === undefined ? {} : { kind }),
    ...(limit === undefined ? {} : { limit }),
    ...(search === undefined ? {} : { search }),
  };
}

async function read(context: CliContext, [id = "", ...others]: readonly string[]): Promise<number> {
  if (others.length > 0 && context.isJson)
    throw usage("unexpected-argument", "With --json, mail read takes one mail: an answer is one JSON object.");
  for (const mail of [id, ...others]) {
    const whole = await context.client().readMail({ mail });
    answer(context, whole, () => `${mail === id ? "" : "\n"}${mailText(whole, context.output, Date.now())}`);
  }
  return 0;
}

async function settle(context: CliContext, action: "archive" | "retract", ids: readonly string[]): Promise<number> {
  const client = context.client();
  const mails: OutputOf<"archiveMail">[] = [];
  for (const mail of ids)
    mails.push(action === "archive" ? await client.archiveMail({ mail }) : await client.retractMail({ mail }));
  const [only] = mails;
  const done = action === "archive" ? "Archived" : "Retracted";
  answerInWords(context, mails.length === 1 && only !== undefined ? only : { mails }, () =>
    mails.map((mail) => `${done} ${mail.mail_id}.`).join("\n"),
  );
  return 0;
}
