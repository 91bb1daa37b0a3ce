import { unalias } from "../aliases.ts";
import { answer } from "../answer.ts";
import { actionOf } from "../command-action.ts";
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
    if (topic !== undefined && action !== undefined) throw nothingAbout(action, topic, []);
    if (topic !== undefined) return await explainTopic(topic, context);
    if (name === undefined) {
      const shown = context.commands.filter((command) => command.isHidden !== true);
      answer(context, { commands: shown.map((command) => described(command)) }, () => overview(context.commands));
      return 0;
    }
    const command = findCommand(context.commands, unalias([name])[0] ?? name);
    const actions = Object.keys(command.actions ?? {});
    if (action !== undefined && !actions.includes(action)) throw nothingAbout(action, name, actions);
    answer(context, { commands: [described(command, action)] }, () => commandHelp(command, action));
    return 0;
  },
};

function described(command: CliCommand, word?: string): object {
  const action = word === undefined ? null : actionOf(command, word);
  const { name, summary } =
    action === null ? command : { name: `${command.name} ${action.name}`, summary: action.spec.summary };
  return { name, summary, usage: usageLine(command, word) };
}

function nothingAbout(word: string, name: string, actions: readonly string[]): Error {
  const hint = didYouMean(word, actions) ?? `see reeve help ${name}`;
  return usage("bad-value", `There is nothing about "${word}" in the help of ${name}; ${hint}.`);
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
