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
    "The answer is given once, and only while the question is there. If the session asks several things, say which one: reeve approvals shows the id of each.",
    "Exits with 1 if it did not take effect, or if somebody answered differently in the terminal first.",
  ],
  examples: [
    { line: "reeve approve builder", does: "answer the one thing it asks" },
    { line: "reeve approve builder turn-3", does: "answer one of several" },
    { line: "reeve approve builder --wait", does: "print what it says in the rest of its turn" },
  ],

  run: (input, context) => giveAnswer(input, context, "approved"),
};
