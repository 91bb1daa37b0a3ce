import type { CliCommand } from "../command.ts";
import { ANSWER_OPTIONS, giveAnswer } from "../give-answer.ts";

export const denyCommand: CliCommand = {
  name: "deny",
  takesKey: true,
  summary: "deny what a session asks, and say whether it took effect",
  arguments: [
    { name: "session", completion: "session" },
    { name: "approval", isOptional: true },
  ],
  options: ANSWER_OPTIONS,
  notes: [
    "The answer is given once, and only while the question is there. To say what to do instead, use reeve send afterwards.",
    "Exits with 1 if it did not take effect, or if somebody answered differently in the terminal first.",
  ],
  examples: [
    { line: "reeve deny builder", does: "answer the one thing it asks" },
    { line: "reeve deny builder turn-3", does: "answer one of several" },
    { line: "reeve deny builder --wait", does: "print what it says in the rest of its turn" },
  ],

  run: (input, context) => giveAnswer(input, context, "denied"),
};
