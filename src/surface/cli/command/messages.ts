import type { OutputOf } from "../../../client/operation-types.ts";
import { answer } from "../answer.ts";
import { callerText } from "../../../session/caller-text.ts";
import type { CliCommand } from "../command.ts";
import { relativeTime } from "../relative-time.ts";
import { oneLine } from "../session-text.ts";
import { layOut } from "../table.ts";
import type { Column } from "../table.ts";
import { rulerFor } from "../text-ruler.ts";

export const messagesCommand: CliCommand = {
  name: "messages",
  takesKey: true,
  summary: "show the messages that wait for a session, and cancel one",
  arguments: [{ name: "session", completion: "session" }],
  options: [{ name: "cancel", value: "MESSAGE", summary: "cancel this message, as long as it still waits" }],
  notes: ["They are shown in the order in which they will be typed. What was typed already is in reeve data."],
  examples: [
    { line: "reeve messages builder", does: "what waits, and for what" },
    { line: "reeve messages builder --cancel m-5f2k", does: "cancel one of them" },
  ],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const client = context.client();
    const cancelled = input.text("cancel");
    if (cancelled !== undefined) {
      const message = await client.cancelMessage({ session, message: cancelled });
      answer(context, message, () => `Cancelled: ${oneLine(message.text)}`);
      return 0;
    }
    const listed = await client.listMessages({ session });
    if (listed.messages.length === 0 && !context.isJson) {
      context.output.note(`No message waits for ${oneLine(session)}.`);
      return 0;
    }
    const table = context.isJson ? "" : await messageTable(listed.messages, context.output.width, Date.now());
    answer(context, listed, () => table);
    return 0;
  },
};

const COLUMNS: readonly Column[] = [
  { title: "MESSAGE" },
  { title: "SENT", dropped: 2 },
  { title: "BY", dropped: 3 },
  { title: "STATE", dropped: 1 },
  { title: "TEXT", least: 16 },
];

async function messageTable(
  messages: OutputOf<"listMessages">["messages"],
  width: number | null,
  now: number,
): Promise<string> {
  const rows = messages.map((message) =>
    [
      message.message_id,
      relativeTime(message.admitted_at, now),
      message.sent_by === null ? "-" : callerText(message.sent_by),
      message.state === "leased" ? "being typed" : "waits",
      oneLine(message.text),
    ].map((text) => ({ text })),
  );
  const table = layOut(COLUMNS, rows, width, await rulerFor(rows.flatMap((row) => row.map(({ text }) => text))));
  const why = messages.flatMap(({ detail }) => (detail === null ? [] : [`${oneLine(detail)}\n`]));
  return `${table}${[...new Set(why)].join("")}`;
}
