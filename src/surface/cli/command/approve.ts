import type { CliCommand } from "../command.ts";
import { ANSWER_OPTIONS, giveAnswer } from "../give-answer.ts";

export const approveCommand: CliCommand = {
  name: "approve",
  takesKey: true,
  summary: "approve what a session asks, and say whether it took effect",
  arguments: [
    { name: "session", completion: "session" },
    { name: "approval", isOptional: true },
  ],
  options: ANSWER_OPTIONS,
  notes: [
    "The answer is given once, and only while the question is there. A session that asks several things needs the approval too, as reeve approvals shows it.",
    "Exits with 1 when it did not take effect, or somebody in the pane decided otherwise before.",
  ],
  examples: [
    { line: "reeve approve builder", does: "the one thing it asks" },
    { line: "reeve approve builder turn-3", does: "one of several" },
    { line: "reeve approve builder --wait", does: "print what it says in the rest of its turn" },
  ],

  run: (input, context) => giveAnswer(input, context, "approved"),
};
