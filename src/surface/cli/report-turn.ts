/** `--wait` after a start, a message or an answer: prints the outcome and what the agent said in that turn. */
import type { Client } from "../../client/create-client.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { acknowledge } from "./acknowledge.ts";
import { usage } from "./usage.ts";
import type { CliContext, CommandInput, OptionSpec } from "./command.ts";
import { statusOfWait } from "./exit-codes.ts";
import type { Prompt, Reply } from "./reply.ts";
import { replyTo } from "./reply.ts";
import { transcriptText } from "./transcript-text.ts";
import type { Waited } from "./wait-text.ts";
import { timedOut, wakeLines } from "./wait-text.ts";

export const WAIT_TIMEOUT: OptionSpec = {
  name: "timeout",
  value: "SECONDS",
  type: "number",
  summary: "with --wait: give up after this time and exit with 75 (default: no limit)",
};

/** For waitForSession; only together with --wait. */
export function waitTimeout(input: CommandInput, command: string): { readonly timeout_seconds?: number } {
  const seconds = input.number("timeout");
  if (seconds === undefined) return {};
  if (!input.flag("wait")) throw usage("timeout-without-wait", `${command} takes --timeout only together with --wait.`);
  if (seconds < 0) throw usage("bad-value", `--timeout takes 0 seconds or more, not ${seconds}.`);
  return { timeout_seconds: seconds };
}

/** `fields` are those of the answer to what was asked; `prompt` is what began the turn. */
export async function reportTurn(
  context: CliContext,
  client: Client,
  waited: Waited,
  { prompt, fields }: { readonly prompt: Prompt; readonly fields: object },
): Promise<number> {
  const isTurnOver = waited.reason.startsWith("turn-");
  const reply = isTurnOver ? await replyTo(client, waited.session.session_id, prompt, waited.ok) : null;
  if (context.isJson) {
    context.output.printJson({ ...fields, ...waited, reply });
    return statusOfWait(waited);
  }
  if (waited.reason === "timeout") context.output.note(timedOut(waited));
  if (reply !== null) {
    context.output.print(await replyText(reply, context));
    await acknowledge(context, client, waited.session);
  }
  // Not to where the reply goes: a script takes that for what the agent said.
  if (reply === null || !waited.ok)
    for (const line of wakeLines(waited).trimEnd().split("\n")) context.output.note(line);
  return statusOfWait(waited);
}

/** A person sees who said and did what, and when; a script gets what the agent said. */
async function replyText({ messages, text }: Reply, { output }: CliContext): Promise<string> {
  if (messages !== undefined && !output.isTerminal) return saidBy(messages);
  if (messages !== undefined) return await transcriptText(messages, output, Date.now());
  const shown = stripTerminal(text ?? "").trimEnd();
  return shown === "" ? "" : `${shown}\n`;
}

function saidBy(messages: NonNullable<Reply["messages"]>): string {
  const said = messages.flatMap(({ role, text }) => {
    const shown = role === "assistant" ? stripTerminal(text).trim() : "";
    return shown === "" ? [] : [`${shown}\n`];
  });
  return said.join("\n");
}
