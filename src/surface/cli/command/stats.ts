import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { pastTime } from "../past-time.ts";

export const statsCommand: CliCommand = {
  name: "stats",
  summary: "show turns, tokens, cost, durations and error rates by agent, role, day or session",
  arguments: [],
  options: [
    {
      name: "by",
      value: "WHAT",
      summary: "what to group by; agent by default",
      choices: ["agent", "role", "day", "session"],
    },
    { name: "since", value: "WHEN", summary: "only from then on: an age such as 2h or 7d, or a date" },
    { name: "until", value: "WHEN", summary: "only what is older than that" },
  ],
  notes: [
    'A "?" means that nobody told, which is not 0. Tokens and cost are what the agents themselves write down; Reeve has no price list. Calls to the model are known for sessions that were started with --persist-session and whose traffic is captured.',
    "Durations and latencies: half took at most the first time, 99 of 100 at most the second. The error rate counts turns that failed among those that completed or failed.",
    "Numbers of a session go when the session is removed (reeve help prune).",
  ],
  examples: [
    { line: "reeve stats", does: "by agent, as long as Reeve remembers" },
    { line: "reeve stats --by day --since 7d", does: "the last week, day by day" },
    { line: "reeve stats --by session --since 1d", does: "which session used how much today" },
    { line: "reeve stats --by role --json", does: "for a program; what is not known is null" },
  ],

  async run(input, context) {
    const now = Date.now();
    const by = GROUPINGS.find((known) => known === input.text("by")) ?? "agent";
    const [since, until] = ["since", "until"].map((name) => pastTime(name, input.text(name), now));
    const stats = await context.client().getStats({
      by,
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    });
    const { statsTable } = await import("../stats-text.ts");
    const isEmpty = stats.groups.length === 0;
    const table = context.isJson || isEmpty ? "" : await statsTable(stats.groups, by, context.output);
    answer(context, stats, () => table);
    if (context.isJson) return 0;
    if (isEmpty) context.output.note("No turn is known yet.");
    if (stats.index.note !== null) context.output.note(stats.index.note);
    return 0;
  },
};

const GROUPINGS = ["agent", "role", "day", "session"] as const;
