import { unalias } from "../aliases.ts";
import { answer } from "../answer.ts";
import { findCommand } from "../command-line.ts";
import type { Command } from "../command.ts";
import { EXIT_CODE_NOTES, EXIT_CODES } from "../exit-codes.ts";
import { commandHelp, exitCodeHelp, overview, usageLine } from "../help.ts";

export const helpCommand: Command = {
  name: "help",
  summary: "show the commands, one of them, or what the exit codes mean",
  arguments: [{ name: "command", isOptional: true, completion: "command" }],
  options: [],
  examples: [
    { line: "reeve help wait", does: "the same as reeve wait --help" },
    { line: "reeve help exit-codes", does: "what a script may rely on" },
  ],

  async run(input, context) {
    const [name] = input.arguments;
    if (name === "exit-codes") {
      answer(context, { exit_codes: EXIT_CODES, notes: EXIT_CODE_NOTES }, exitCodeHelp);
      return 0;
    }
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
    answer(context, { commands: described }, () =>
      name === undefined || only === undefined ? overview(context.commands) : commandHelp(only),
    );
    return 0;
  },
};
