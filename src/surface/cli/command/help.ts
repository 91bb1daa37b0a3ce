import { unalias } from "../aliases.ts";
import { answer } from "../answer.ts";
import { findCommand } from "../command-line.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { EXIT_CODE_NOTES, EXIT_CODES } from "../exit-codes.ts";
import { commandHelp, HELP_TOPICS, overview, usageLine } from "../help.ts";
import type { HelpTopic } from "../help.ts";
import { didYouMean } from "../suggestion.ts";
import { usage } from "../usage.ts";

export const helpCommand: CliCommand = {
  name: "help",
  summary: "show the commands, one of them, or a topic",
  arguments: [
    { name: "command", isOptional: true, completion: "command" },
    { name: "action", isOptional: true },
  ],
  options: [],
  notes: [`Topics: ${HELP_TOPICS.join(", ")}.`],
  examples: [
    { line: "reeve help wait", does: "the same as reeve wait --help" },
    { line: "reeve help work add", does: "one of the things that a command does" },
    { line: "reeve help exit-codes", does: "what a script may rely on" },
    { line: "reeve help files", does: "where your sessions, settings and logs are" },
  ],

  async run(input, context) {
    const [name, action] = input.arguments;
    const topic = HELP_TOPICS.find((candidate) => candidate === name);
    if (topic !== undefined) return await explainTopic(topic, context);
    const shown =
      name === undefined
        ? context.commands.filter((command) => command.isHidden !== true)
        : [findCommand(context.commands, unalias([name])[0] ?? name)];
    const described = shown.map((command) => ({
      name: command.name,
      summary: command.summary,
      usage: usageLine(command),
    }));
    const [only] = shown;
    if (action !== undefined) requireAction(name ?? "", only, action);
    answer(context, { commands: described }, () =>
      name === undefined || only === undefined ? overview(context.commands) : commandHelp(only, action),
    );
    return 0;
  },
};

function requireAction(name: string, command: CliCommand | undefined, action: string): void {
  const actions = Object.keys(command?.actions ?? {});
  if (actions.includes(action)) return;
  const hint = didYouMean(action, actions) ?? `see reeve help ${name}`;
  throw usage("bad-value", `There is nothing about "${action}" in the help of ${name}; ${hint}.`);
}

async function explainTopic(topic: HelpTopic, context: CliContext): Promise<number> {
  const { topicHelp, topicOf } = await import("../help-topics.ts");
  const text = topicOf(topic, context.environment);
  const rows = text.rows.map(([name, meaning]) => ({ name, meaning }));
  const value =
    topic === "exit-codes"
      ? { exit_codes: EXIT_CODES, notes: EXIT_CODE_NOTES }
      : { topic, title: text.title, rows, notes: text.notes };
  answer(context, value, () => topicHelp(text));
  return 0;
}
