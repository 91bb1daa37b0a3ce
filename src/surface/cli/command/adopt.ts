import type { CliCommand } from "../command.ts";
import { start, startCommand } from "./start.ts";

export const adoptCommand: CliCommand = {
  name: "adopt",
  takesKey: true,
  summary: "continue a conversation that you began outside Reeve",
  arguments: [{ name: "agent", completion: ["claude", "codex"] }, { name: "conversation" }],
  options: startCommand.options.filter(({ name }) => name !== "resume"),
  rest: "arguments...",
  notes: [
    "The same as reeve start AGENT --resume ID. Leave the agent first: Reeve refuses a conversation that is open elsewhere, because both would write into one transcript.",
    "To see the ids, run claude --resume or codex resume. Claude Code keeps the conversations of each directory apart: give the directory with --cwd if it is not this one. Gemini CLI cannot be adopted.",
  ],
  examples: [
    {
      line: "reeve adopt codex 0199f2c4-7a51-7000-8000-2f1c9d2e4b11 --name parser",
      does: "continue that conversation in Reeve",
    },
  ],

  run(input, context) {
    const [agent = "", conversation = ""] = input.arguments;
    return start({ ...input, arguments: [agent] }, context, conversation);
  },
};
