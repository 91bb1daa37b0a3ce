import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { explanationText } from "../explain-text.ts";

export const explainCommand: CliCommand = {
  name: "explain",
  summary: "show why Reeve says what it says of a session: the evidence, by source",
  arguments: [{ name: "session", completion: "session" }],
  options: [],
  notes: ["WEIGHT says what came of a source's last word: it counted, or why it did not (yet)."],
  examples: [{ line: "reeve explain builder", does: "is it really idle, and who says so" }],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const explained = await context.client().explainSession({ session });
    const text = context.isJson ? "" : await explanationText(explained, context.output, Date.now());
    answer(context, explained, () => text);
    return 0;
  },
};
