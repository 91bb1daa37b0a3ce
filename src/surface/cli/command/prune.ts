import { durationMs } from "../../../platform/duration.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand } from "../command.ts";

export const pruneCommand: CliCommand = {
  name: "prune",
  summary: "remove ended sessions, events, mail and items of work that are kept no longer, or show what would go",
  arguments: [],
  options: [
    { name: "dry-run", summary: "remove nothing; show what would go, and what stays and why" },
    {
      name: "older-than",
      value: "AGE",
      summary: "what is older than this, such as 30d, 12h or 0d, instead of what the settings say",
    },
  ],
  notes: [
    "Reeve does this by itself every hour, as [retention] in config.toml says: by default sessions stay for 30 days after their end, at most 2000 of them, events and read mail for 30 days, and items of work that are done for 90 days.",
    "A session that runs, is held, has a worktree, unread mail or an open item in your inbox is not removed. Your agents' own transcripts and your repositories are never touched.",
  ],
  examples: [
    { line: "reeve prune --dry-run", does: "see what would be removed, and what stays and why" },
    { line: "reeve prune", does: "remove it now instead of within the hour" },
    { line: "reeve prune --older-than 7d", does: "keep only the last week" },
  ],

  async run(input, context) {
    const age = input.text("older-than");
    const pruned = await context
      .client()
      .prune({ dry_run: input.flag("dry-run"), ...(age === undefined ? {} : { older_than_seconds: secondsIn(age) }) });
    const { pruneText } = await import("../prune-text.ts");
    const text = context.isJson ? "" : await pruneText(pruned, context.output, Date.now());
    answer(context, pruned, () => text);
    return 0;
  },
};

function secondsIn(age: string): number {
  const ms = durationMs(age);
  if (ms === null) throw usage("bad-value", `--older-than needs an age such as 30d or 12h, not "${age}".`);
  return ms / 1_000;
}
