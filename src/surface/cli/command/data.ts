import type { OutputOf } from "../../../client/operation-types.ts";
import { stripTerminal } from "../../../platform/terminal-text.ts";
import { acknowledge } from "../acknowledge.ts";
import { answer } from "../answer.ts";
import type { CliContext, Command } from "../command.ts";
import { paint } from "../paint.ts";
import { oneLine } from "../session-text.ts";
import { transcriptText } from "../transcript-text.ts";

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
  notes: ["Of what tools gave back only the first lines are shown; with --json all of it."],
  examples: [
    { line: "reeve data builder", does: "what it said last" },
    { line: "reeve data builder --source screen", does: "what its terminal shows" },
  ],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const tail = input.number("tail");
    const since = input.number("since");
    const source = input.text("source");
    const client = context.client();
    const data = await client.getSessionData({
      session,
      ...(tail === undefined ? {} : { tail }),
      ...(since === undefined ? {} : { since }),
      ...(source === "transcript" || source === "screen" ? { source } : {}),
    });
    if (!context.isJson) context.output.note(noteOf(data, context));
    const text =
      context.isJson || data.messages === undefined
        ? stripTerminal(data.text ?? "")
        : await transcriptText(data.messages, context.output, Date.now());
    answer(context, data, () => text);
    await acknowledge(context, client, data.session);
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
