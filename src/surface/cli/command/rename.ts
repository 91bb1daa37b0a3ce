import { answerInWords } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { oneLine } from "../session-text.ts";

export const renameCommand: CliCommand = {
  name: "rename",
  takesKey: true,
  summary: "give a session another name",
  arguments: [{ name: "session", completion: "session" }, { name: "name" }],
  options: [],
  notes: ["Its id, its directory and what runs in it stay the same."],
  examples: [{ line: "reeve rename claude-1 parser", does: "rename claude-1 to parser" }],

  async run(input, context) {
    const [session = "", name = ""] = input.arguments;
    const outcome = await context.client().renameSession({ session, name });
    answerInWords(context, outcome, () => `${oneLine(session)} is now called ${oneLine(outcome.session.name)}.`);
    return 0;
  },
};
