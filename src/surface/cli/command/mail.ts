import { isatty } from "node:tty";
import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { answer, answerInWords } from "../answer.ts";
import { usage } from "../command-line.ts";
import type { CliCommand, CliContext, CommandInput } from "../command.ts";
import { mailFooter, mailTable, mailText, partyText } from "../mail-text.ts";
import { oneLine } from "../session-text.ts";
import { readStandardInput } from "../standard-input.ts";
import { givenText, readText } from "../text-input.ts";

const ACTIONS = ["check", "send", "read", "reply", "archive", "retract", "search"] as const;
type Action = (typeof ACTIONS)[number];

const KINDS = ["note", "hand-off"] as const;
const PRIORITIES = ["low", "normal", "high"] as const;

const WRITING = ["subject", "hand-off", "priority", "file"];
const LOOKING = ["unread", "archived", "kind", "from", "thread", "of", "limit", "page"];

/** Which options belong to which action, and how many words it takes. */
const TAKES: Readonly<
  Record<
    Action,
    { readonly options: readonly string[]; readonly least: number; readonly most: number; readonly what: string }
  >
> = {
  check: { options: LOOKING, least: 0, most: 0, what: "nothing but options" },
  send: { options: WRITING, least: 1, most: 2, what: "whom it goes to, and a text" },
  read: { options: [], least: 1, most: Infinity, what: "the id of a mail" },
  reply: { options: WRITING, least: 1, most: 2, what: "the id of a mail, and a text" },
  archive: { options: [], least: 1, most: Infinity, what: "the id of a mail" },
  retract: { options: [], least: 1, most: Infinity, what: "the id of a mail" },
  search: { options: LOOKING, least: 1, most: 1, what: "the text to look for" },
};

export const mailCommand: CliCommand = {
  name: "mail",
  takesKey: true,
  summary: "send mail to a session, a role or the operator, and read your own",
  arguments: [
    { name: "action", isOptional: true, choices: ACTIONS },
    { name: "what", isOptional: true, isRepeated: true, completion: "session" },
  ],
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
    requireFitting(action, words, input);
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

function requireFitting(action: Action, words: readonly string[], input: CommandInput): void {
  const { options, least, most, what } = TAKES[action];
  const foreign = [...WRITING, ...LOOKING].find((name) => input.flag(name) && !options.includes(name));
  if (foreign !== undefined) {
    const owners = ACTIONS.filter((other) => TAKES[other].options.includes(foreign));
    throw usage(
      "unknown-option",
      `mail ${action} has no option --${foreign}; it belongs to mail ${owners.join(" and mail ")}.`,
    );
  }
  if (words.length < least) throw usage("missing-argument", `mail ${action} needs ${what}; see reeve mail --help.`);
  if (words.length > most)
    throw usage(
      "unexpected-argument",
      `mail ${action} does not know what to do with "${words[most]}"; put text with spaces in quotes.`,
    );
}

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
