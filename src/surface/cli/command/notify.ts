import type { OutputOf } from "../../../client/operation-types.ts";
import { answer, answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { relativeTime } from "../relative-time.ts";
import { oneLine } from "../session-text.ts";
import { layOut } from "../table.ts";
import type { Column } from "../table.ts";
import { rulerFor } from "../text-ruler.ts";

const ACTIONS = ["list", "test"] as const;

export const notifyCommand: CliCommand = {
  name: "notify",
  summary: "see how Reeve tells you that something needs you, and try it out",
  arguments: [
    { name: "action", isOptional: true, choices: ACTIONS },
    { name: "channel", isOptional: true },
  ],
  options: [],
  notes: [
    "Without an action it is list. Channels are the [[notify]] tables of config.toml; without one, Reeve sends nothing anywhere.",
    "test sends a notification now, also in quiet hours, by one channel or by all. It exits with 1 if one of them does not work.",
  ],
  examples: [
    { line: "reeve notify", does: "see the channels, what waits, and what fails" },
    { line: "reeve notify test", does: "send a test by every channel" },
    { line: "reeve notify test pager", does: "send a test by one channel" },
  ],

  async run(input, context) {
    const [action = "list", channel] = input.arguments;
    if (action === "test") return await test(context, channel);
    if (channel !== undefined)
      throw usage("unexpected-argument", "notify list shows all channels; leave the name out.");
    return await list(context);
  },
};

async function test(context: CliContext, channel: string | undefined): Promise<number> {
  const tested = await context.client().testNotification(channel === undefined ? {} : { channel });
  answerInWords(context, tested, () =>
    tested.channels
      .map(({ channel: name, target, sent, what }) =>
        sent
          ? `${name}: sent to ${oneLine(target)}: ${oneLine(what)}.`
          : `${name}: could not be sent to ${oneLine(target)}: ${oneLine(what)}.`,
      )
      .join("\n"),
  );
  return tested.channels.every(({ sent }) => sent) ? 0 : 1;
}

const COLUMNS: readonly Column[] = [
  { title: "CHANNEL" },
  { title: "TYPE" },
  { title: "SENT" },
  { title: "WAITING" },
  { title: "STATE", least: 16 },
];

async function list(context: CliContext): Promise<number> {
  const listed = await context.client().listNotifications();
  if (listed.channels.length === 0 && !context.isJson) {
    context.output.note("There is no notification channel. To add one, see docs/guide/notifications.md.");
    return 0;
  }
  const table = context.isJson ? "" : await channelTable(listed.channels, context.output.width, Date.now());
  answer(context, listed, () => table);
  return 0;
}

type Channels = OutputOf<"listNotifications">["channels"];

async function channelTable(channels: Channels, width: number | null, now: number): Promise<string> {
  const rows = channels.map((channel) =>
    [
      channel.channel,
      channel.type,
      relativeTime(channel.last_sent_at, now),
      String(channel.pending),
      stateText(channel, now),
    ].map((text) => ({ text })),
  );
  return layOut(COLUMNS, rows, width, await rulerFor(rows.flatMap((row) => row.map(({ text }) => text))));
}

function stateText({ failure, next_at: nextAt, pending, target }: Channels[number], now: number): string {
  const next = nextAt === null || pending === 0 ? "" : `; next ${relativeTime(nextAt, now)}`;
  if (failure !== null) return `failed ${relativeTime(failure.at, now)}: ${oneLine(failure.why)}${next}`;
  return `sends to ${oneLine(target)}${next}`;
}
