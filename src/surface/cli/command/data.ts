import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { stripTerminal } from "../../../platform/terminal-text.ts";
import { acknowledge } from "../acknowledge.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { paint } from "../paint.ts";
import { oneLine } from "../session-text.ts";
import { transcriptText } from "../transcript-text.ts";

export const dataCommand: CliCommand = {
  name: "data",
  summary: "show what a session said last: its transcript, or its screen",
  arguments: [{ name: "session", completion: "session" }],
  options: [
    { name: "last", summary: "only the last answer, as it was written" },
    { name: "follow", short: "f", summary: "keep printing what it says next, until its process ends" },
    { name: "lines", short: "n", value: "N", type: "count", summary: "only the last N lines" },
    {
      name: "tail",
      value: "BYTES",
      type: "count",
      most: 49_152,
      summary: "at most this many bytes from the end (up to 49152)",
    },
    {
      name: "since",
      value: "CURSOR",
      type: "cursor",
      summary: "only what was added to the transcript after this cursor, from an earlier answer",
    },
    {
      name: "source",
      value: "SOURCE",
      summary: "read only the transcript, or only the screen",
      choices: ["transcript", "screen"],
    },
  ],
  notes: [
    "Only the first lines of tool results are shown; --json shows all of them. With --follow --json it prints one object per line.",
    "If you read it on a terminal, it counts as seen: see reeve list --help.",
  ],
  examples: [
    { line: "reeve data builder", does: "what it said last" },
    { line: "reeve data builder --last | less", does: "only the last answer" },
    { line: "reeve data builder -f", does: "go on with what it says next" },
    { line: "reeve data builder --source screen -n 20", does: "the last lines that its terminal shows" },
  ],

  async run(input, context) {
    const client = context.client();
    const request = requestOf(input);
    if (input.flag("follow")) {
      if (input.flag("last")) throw usage("last-and-follow", "Give --last or --follow, not both.");
      const { followData } = await import("../follow-data.ts");
      return await followData(context, client, request, (data) => textOf(data, input, context));
    }
    const data = await client.getSessionData(request);
    if (input.flag("last")) return await tellLast(data, context, () => acknowledge(context, client, data.session));
    if (!context.isJson) context.output.note(noteOf(data, context));
    const text = context.isJson ? "" : await textOf(data, input, context);
    answer(context, data, () => text);
    await acknowledge(context, client, data.session);
    return 0;
  },
};

export type Data = OutputOf<"getSessionData">;

function requestOf(input: CommandInput): InputOf<"getSessionData"> {
  const [session = ""] = input.arguments;
  const tail = input.number("tail");
  const since = input.number("since");
  const source = input.text("source");
  return {
    session,
    ...(tail === undefined ? {} : { tail }),
    ...(since === undefined ? {} : { since }),
    ...(source === "transcript" || source === "screen" ? { source } : {}),
  };
}

async function textOf(data: Data, input: CommandInput, context: CliContext): Promise<string> {
  const text =
    data.messages === undefined
      ? stripTerminal(data.text ?? "")
      : await transcriptText(data.messages, context.output, Date.now());
  const count = input.number("lines");
  if (count === undefined) return text;
  return `${text.trimEnd().split("\n").slice(-count).join("\n")}\n`;
}

/** The last words of the agent alone; where there is no transcript, nobody can tell them from the rest of the screen. */
async function tellLast(data: Data, context: CliContext, acknowledged: () => Promise<void>): Promise<number> {
  const last = data.messages?.findLast(({ role, text }) => role === "assistant" && text.trim() !== "");
  if (last === undefined) {
    const why =
      data.messages === undefined
        ? `has no transcript to take it from; see reeve data ${data.session.name}`
        : "has not answered yet";
    if (context.isJson) context.output.printJson({ ...data, messages: [] });
    else context.output.note(`${oneLine(data.session.name)} ${why}.`);
    return 1;
  }
  answer(context, { ...data, messages: [last] }, () => stripTerminal(last.text).trimEnd());
  await acknowledged();
  return 0;
}

export function noteOf(data: Data, context: CliContext): string {
  const parts = [oneLine(data.note)];
  if (data.truncated) parts.push("Its beginning is cut off.");
  if (data.cursor !== null) parts.push(`For what comes next: --since ${data.cursor}.`);
  const text = parts.join(" ");
  return context.output.hasColour ? paint("quiet", text) : text;
}
