import { answer } from "../answer.ts";
import { findCommand } from "../command-line.ts";
import type { Command } from "../command.ts";
import { commandHelp, overview, usageLine } from "../help.ts";

export const helpCommand: Command = {
  name: "help",
  summary: "show the commands, or one of them",
  arguments: [{ name: "command", isOptional: true }],
  options: [],
  examples: [{ line: "reeve help wait", does: "the same as reeve wait --help" }],

  async run(input, context) {
    const [name] = input.arguments;
    const shown =
      name === undefined
        ? context.commands.filter((command) => command.isHidden !== true)
        : [findCommand(context.commands, name)];
    const described = shown.map((command) => ({
      name: command.name,
      summary: command.summary,
      usage: usageLine(command),
    }));
    const [only] = shown;
    answer(context, { commands: described }, () =>
      name === undefined || only === undefined ? overview(context.commands) : commandHelp(only),
    );
    return 0;
  },
};
