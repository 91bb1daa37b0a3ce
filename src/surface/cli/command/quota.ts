import type { OutputOf } from "../../../client/operation-types.ts";
import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { paint } from "../paint.ts";
import { duration, relativeTime } from "../relative-time.ts";
import { oneLine } from "../session-text.ts";
import { layOut } from "../table.ts";
import type { Cell, Column } from "../table.ts";
import { rulerFor } from "../text-ruler.ts";
import type { Output } from "../output.ts";

export const quotaCommand: CliCommand = {
  name: "quota",
  summary: "show the usage limits of your accounts, when they reset, and which sessions wait for one",
  arguments: [],
  options: [],
  notes: [
    "Reeve learns of a limit from what agents report: how much is used where they say so, and otherwise when a turn fails because of it.",
    "While a limit is reached, starts and messages of every session on that account wait. At the reset one session goes first; if it gets an answer, the others follow.",
  ],
  examples: [
    { line: "reeve quota", does: "every limit that is known, those that are reached first" },
    { line: "reeve quota --json", does: "the same for a program, with the sessions that wait" },
  ],

  async run(_input, context) {
    const listed = await context.client().listQuotas();
    if (listed.quotas.length === 0 && !context.isJson) {
      context.output.note("No agent has said anything about a usage limit yet.");
      return 0;
    }
    const table = context.isJson ? "" : await quotaTable(listed.quotas, context.output, Date.now());
    answer(context, listed, () => table);
    return 0;
  },
};

type QuotaView = OutputOf<"listQuotas">["quotas"][number];

const COLUMNS: readonly Column[] = [
  { title: "ACCOUNT", least: 12 },
  { title: "LIMIT", least: 8 },
  { title: "USED" },
  { title: "STATUS" },
  { title: "RESETS", dropped: 2 },
  { title: "TOLD", dropped: 3 },
  { title: "WAITING", least: 12, dropped: 1 },
];

async function quotaTable(
  quotas: readonly QuotaView[],
  { width, hasColour }: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  const rows = quotas.map((quota): readonly Cell[] => [
    { text: oneLine(quota.account) },
    { text: oneLine(quota.limit) },
    { text: quota.used_percent === null ? "-" : `${Math.round(quota.used_percent)} %` },
    {
      text: STATUS[quota.status],
      ...(hasColour && quota.status !== "open" && { paint: (cut) => paint("notice", cut) }),
    },
    { text: resetText(quota, now) },
    { text: relativeTime(quota.reported_at, now) },
    { text: waitingText(quota) },
  ]);
  return layOut(COLUMNS, rows, width, await rulerFor(rows.flatMap((row) => row.map(({ text }) => text))));
}

const STATUS = {
  open: "open",
  waiting: "reached",
  probing: "being tried",
  opening: "opening",
} as const satisfies Record<QuotaView["status"], string>;

/** A moment that nobody stated is when Reeve tries again. */
function resetText({ resets_at: resetsAt, retry_at: retryAt, status }: QuotaView, now: number): string {
  const at = status === "waiting" ? retryAt : resetsAt;
  if (at === null) return "-";
  const ms = Date.parse(at) - now;
  const text = ms > 0 ? `in ${duration(ms)}` : "passed";
  return status === "waiting" && resetsAt === null ? `tried ${text}` : text;
}

function waitingText({ waiting, sessions }: QuotaView): string {
  const names = waiting.map(({ name }) => oneLine(name)).join(", ");
  return names === "" ? `- (of ${sessions})` : `${names} (of ${sessions})`;
}
