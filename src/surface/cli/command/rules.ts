import { readFileSync } from "node:fs";
import type { OutputOf } from "../../../client/operation-types.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { relativeTime } from "../relative-time.ts";
import { oneLine } from "../session-text.ts";
import { type Column, layOut } from "../table.ts";
import { readText } from "../text-input.ts";
import { rulerFor } from "../text-ruler.ts";
import { absolutePath } from "../working-directory.ts";

const ACTIONS = ["list", "test"] as const;

export const rulesCommand: CliCommand = {
  name: "rules",
  summary: "show the rules that answer approvals for you, and try them on past questions",
  arguments: [{ name: "action", isOptional: true, choices: ACTIONS }],
  options: [
    { name: "config", value: "FILE", summary: "test: the rules in this config.toml instead", completion: "file" },
    { name: "limit", value: "N", type: "count", most: 1_000, summary: "test: so many questions (default 200)" },
  ],
  notes: [
    "Rules are [[approval]] tables in config.toml. The first rule that fits a question decides; where both its allow and its deny fit, the question is denied. Without rules, every question waits for you.",
    "test answers nothing: it shows what the rules would have decided on questions of the past.",
  ],
  examples: [
    { line: "reeve rules", does: "the rules in force" },
    { line: "reeve rules test --config new-rules.toml", does: "what rules in a file would have decided" },
  ],

  async run(input, context) {
    const [action = "list"] = input.arguments;
    const file = input.text("config");
    const limit = input.number("limit");
    if (action === "test") return await test(context, file, limit);
    if (file !== undefined || limit !== undefined)
      throw usage("unknown-option", "--config and --limit belong to: reeve rules test.");
    const listed = await context.client().listRules({});
    if (listed.rules.length === 0 && !context.isJson) {
      context.output.note("There are no approval rules: every question waits for you.");
      return 0;
    }
    answer(context, listed, () => listed.rules.map(ruleText).join(""));
    return 0;
  },
};

async function test(context: CliContext, file: string | undefined, limit: number | undefined): Promise<number> {
  const config =
    file === undefined
      ? undefined
      : readText(() => readFileSync(absolutePath(context, file)), `The file ${oneLine(file)}`, true);
  const tested = await context.client().testRules({
    ...(config === undefined ? {} : { config }),
    ...(limit === undefined ? {} : { limit }),
  });
  if (tested.questions.length === 0 && !context.isJson) {
    context.output.note("No session has asked for an approval yet, so there is nothing to try the rules on.");
    return 0;
  }
  const table = context.isJson ? "" : await questionTable(tested, context.output.width);
  answer(context, tested, () => table);
  return 0;
}

const COLUMNS: readonly Column[] = [
  { title: "ASKED", dropped: 3 },
  { title: "SESSION" },
  { title: "DECIDED", dropped: 2 },
  { title: "RULES SAY" },
  { title: "RULE", dropped: 1 },
  { title: "QUESTION", least: 16 },
];

async function questionTable(tested: OutputOf<"testRules">, width: number | null): Promise<string> {
  const now = Date.now();
  const rows = tested.questions.map((question) =>
    [
      relativeTime(question.asked_at, now),
      oneLine(question.session_name),
      question.decided ?? "-",
      question.would ?? "ask you",
      oneLine(question.rule ?? "-"),
      oneLine(question.title),
    ].map((text) => ({ text })),
  );
  const table = layOut(COLUMNS, rows, width, await rulerFor(rows.flatMap((row) => row.map(({ text }) => text))));
  const left = tested.questions.length - tested.would_approve - tested.would_deny;
  return `${table}Of ${tested.questions.length} questions the rules approve ${tested.would_approve}, deny ${tested.would_deny} and leave ${left} to you; ${tested.differs} were decided otherwise.\n`;
}

function ruleText(rule: OutputOf<"listRules">["rules"][number]): string {
  const about = [
    ["agents", rule.agents],
    ["roles", rule.roles],
    ["directories", rule.directories],
    ["tools", rule.tools],
    ["denies", rule.deny],
    ["approves", rule.allow],
  ] as const;
  const lines = about.flatMap(([what, value]) =>
    value === null ? [] : [`  ${what}: ${value === true ? "everything" : value.map(oneLine).join(", ")}\n`],
  );
  return `${oneLine(rule.name)}\n${lines.join("")}`;
}
