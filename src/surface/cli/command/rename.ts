import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { oneLine } from "../session-text.ts";

export const renameCommand: CliCommand = {
  name: "rename",
  takesKey: true,
  summary: "give a session another name",
  arguments: [{ name: "session", completion: "session" }, { name: "name" }],
  options: [],
  notes: [
    "Its id and its directory stay the same. The status line of its terminal shows the new name after the next restart.",
  ],
  examples: [{ line: "reeve rename claude-1 parser", does: "rename claude-1 to parser" }],

  async run(input, context) {
    const [session = "", name = ""] = input.arguments;
    const outcome = await context.client().renameSession({ session, name });
    answer(context, outcome, () => `${oneLine(session)} is now called ${oneLine(outcome.session.name)}.`);
    return 0;
  },
};
