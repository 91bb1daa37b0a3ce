import { isatty } from "node:tty";
import type { Client } from "../../../client/create-client.ts";
import type { InputOf } from "../../../client/operation-types.ts";
import { answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { isLost, outcomeSentence, settledBy } from "../message-outcome.ts";
import type { Sent } from "../message-outcome.ts";
import { reportTurn, waitTimeout } from "../report-turn.ts";
import { readStandardInput } from "../standard-input.ts";
import { givenText, readText } from "../text-input.ts";

export const sendCommand: CliCommand = {
  name: "send",
  takesKey: true,
  summary: "send text to a session, as if typed, followed by Enter",
  arguments: [
    { name: "session", completion: "session" },
    { name: "text", isOptional: true },
  ],
  options: [
    { name: "file", value: "FILE", summary: "send what is in this file", completion: "file" },
    { name: "work", value: "WORK", completion: "work", summary: "give it this item of reeve work; it must be idle" },
    { name: "steer", summary: "during a turn: give it to the agent at once, in the same turn" },
    { name: "interrupt", summary: "during a turn: stop that turn first, then send it" },
    { name: "no-enter", summary: "do not press Enter after it" },
    {
      name: "timeout",
      value: "SECONDS",
      type: "number",
      summary: "how long to wait for the delivery (default 5, at most 60); with --wait: for the reply",
    },
    {
      name: "wait",
      summary: "wait for the end of the turn that takes it and print the reply; exits with 0 only if it completed",
    },
  ],
  notes: [
    "Reeve records the text first and types it once, as soon as the session can take it. Give - as the text, or use a pipe, to read it from stdin; a line end at its end is left out, except with --no-enter.",
    "If the session is in the middle of a turn, the text waits until the turn is over. With --steer the agent gets it at once and works on; with --interrupt it goes ahead of what waits, and Reeve stops the turn first. If the agent cannot do that, the command fails.",
  ],
  examples: [
    { line: "reeve send builder y", does: "answer a question" },
    { line: 'reeve send builder "run the tests" --wait', does: "wait for the reply and print it" },
    { line: 'reeve send builder "leave the tests alone" --steer', does: "add something during its turn" },
    { line: 'reeve send builder "stop, start over" --interrupt', does: "stop its turn, then send this" },
    { line: "git diff | reeve send reviewer -", does: "send what a program printed" },
    { line: "reeve send builder -- --verbose", does: "text that begins with dashes" },
  ],

  async run(input, context) {
    const client = context.client();
    const [session = ""] = input.arguments;
    const isWaiting = input.flag("wait");
    const timeout = input.number("timeout");
    if (isWaiting && input.flag("no-enter"))
      throw usage("wait-without-enter", "Give --wait or --no-enter, not both: without Enter no turn begins.");
    const how = routeOf(input);
    const text = textOf(input, context);
    if (text === "") throw usage("bad-request", "The message is empty; give some text.");
    const work = input.text("work");
    const sent = await client.sendMessage({
      session,
      ...(work === undefined ? {} : { work }),
      how,
      text,
      submit: !input.flag("no-enter"),
      ...(isWaiting ? { timeout_seconds: 0 } : timeout === undefined ? {} : { timeout_seconds: timeout }),
    });
    if (isWaiting) return await tellReply(context, client, sent, { text, ...waitTimeout(input, "send") });
    answerInWords(context, sent, () => outcomeSentence(sent));
    return isLost(sent) ? 1 : 0;
  },
};

async function tellReply(
  context: CliContext,
  client: Client,
  sent: Sent,
  { text, ...timeout }: { readonly text: string; readonly timeout_seconds?: number },
): Promise<number> {
  const { session_id: session, cursor } = sent;
  const waited = await client.waitForSession({ session, reply: false, since: cursor, ...timeout });
  const settled = await settledBy(client, sent);
  const prompt = { text, since: sent.admitted_at };
  if (!isLost(settled)) return await reportTurn(context, client, waited, { prompt, fields: settled });
  answerInWords(context, { ...settled, ...waited, reply: null }, () => outcomeSentence(settled));
  return 1;
}

function routeOf(input: CommandInput): NonNullable<InputOf<"sendMessage">["how"]> {
  const isSteering = input.flag("steer");
  if (isSteering && input.flag("interrupt"))
    throw usage("steer-and-interrupt", "Give --steer or --interrupt, not both.");
  return isSteering ? "steer" : input.flag("interrupt") ? "interrupt" : "queue";
}

function textOf(input: CommandInput, context: CliContext): string {
  const isExact = input.flag("no-enter");
  const text = givenText(input, context, input.arguments[1], { isExact });
  if (text !== null) return text;
  if (isatty(0))
    throw usage("missing-argument", "send needs a text: give it as an argument, with --file, or pipe it in.");
  return readText(readStandardInput, "stdin", isExact);
}
