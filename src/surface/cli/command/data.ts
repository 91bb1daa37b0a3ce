import type { OutputOf } from "../../../client/operation-types.ts";
import { stripTerminal } from "../../../platform/terminal-text.ts";
import { answer } from "../answer.ts";
import type { CliContext, Command } from "../command.ts";
import { paint } from "../paint.ts";
import { relativeTime } from "../relative-time.ts";
import { oneLine } from "../session-text.ts";

export const dataCommand: Command = {
  name: "data",
  summary: "show what a session said last: its transcript, or its screen",
  arguments: [{ name: "session", completion: "session" }],
  options: [
    { name: "tail", value: "BYTES", type: "number", summary: "at most so much from the end; 49152 is the most" },
    {
      name: "since",
      value: "CURSOR",
      type: "number",
      summary: "only what the transcript gained since an earlier answer",
    },
    { name: "source", value: "SOURCE", summary: "which of the two to read", choices: ["transcript", "screen"] },
  ],
  examples: [
    { line: "reeve data builder", does: "what it said last" },
    { line: "reeve data builder --source screen", does: "what its terminal shows" },
  ],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const tail = input.number("tail");
    const since = input.number("since");
    const source = input.text("source");
    const data = await context.client().getSessionData({
      session,
      ...(tail === undefined ? {} : { tail }),
      ...(since === undefined ? {} : { since }),
      ...(source === "transcript" || source === "screen" ? { source } : {}),
    });
    if (!context.isJson) context.output.note(noteOf(data, context));
    answer(context, data, () => textOf(data, context));
    return 0;
  },
};

type Data = OutputOf<"getSessionData">;

function noteOf(data: Data, context: CliContext): string {
  const parts = [oneLine(data.note)];
  if (data.truncated) parts.push("Its beginning is cut off.");
  if (data.cursor !== null) parts.push(`For what comes next: --since ${data.cursor}.`);
  const text = parts.join(" ");
  return context.output.hasColour ? paint("quiet", text) : text;
}

function textOf(data: Data, context: CliContext): string {
  if (data.messages === undefined) return stripTerminal(data.text ?? "");
  const now = Date.now();
  const blocks = data.messages.map((message) => {
    const head = `${message.role}${message.at === null ? "" : `, ${relativeTime(message.at, now)}`}`;
    return `${context.output.hasColour ? paint("strong", head) : `[${head}]`}\n${stripTerminal(message.text).trimEnd()}\n`;
  });
  return blocks.join("\n");
}
