import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { explanationText } from "../explain-text.ts";

export const explainCommand: CliCommand = {
  name: "explain",
  summary: "show why Reeve says what it says about a session: who reported what, and what counted",
  arguments: [{ name: "session", completion: "session" }],
  options: [],
  notes: ["The column WEIGHT says whether the last report of a source counted, and if not, why."],
  examples: [{ line: "reeve explain builder", does: "find out whether it is really idle, and who says so" }],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const explained = await context.client().explainSession({ session });
    const text = context.isJson ? "" : await explanationText(explained, context.output, Date.now());
    answer(context, explained, () => text);
    return 0;
  },
};
