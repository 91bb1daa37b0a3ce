import type { CliCommand } from "../command.ts";
import { start, startCommand } from "./start.ts";

export const adoptCommand: CliCommand = {
  name: "adopt",
  takesKey: true,
  summary: "take a conversation that you began outside Reeve under its care",
  arguments: [{ name: "agent", completion: ["claude", "codex"] }, { name: "conversation" }],
  options: startCommand.options.filter(({ name }) => name !== "resume"),
  rest: "arguments...",
  notes: [
    "The same as reeve start AGENT --resume ID. Leave the agent first: a conversation that is open elsewhere is refused, because two would write into one transcript.",
    "Claude Code keeps the conversations of each directory apart: give the directory it was begun in with --cwd. claude --resume and codex resume list the ids. Gemini CLI cannot be adopted.",
  ],
  examples: [{ line: "reeve adopt codex 0199f2c4-7a51-7000-8000-2f1c9d2e4b11 --name parser", does: "go on there" }],

  run(input, context) {
    const [agent = "", conversation = ""] = input.arguments;
    return start({ ...input, arguments: [agent] }, context, conversation);
  },
};
