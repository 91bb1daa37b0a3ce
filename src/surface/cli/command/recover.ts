import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";

export const recoverCommand: CliCommand = {
  name: "recover",
  summary: "show what to know after a restart of a session: mail, wakes, checkout, last turn, next safe step",
  arguments: [{ name: "session", isOptional: true, completion: "session" }],
  options: [{ name: "details", summary: "all of it, however long" }],
  notes: [
    "Inside a session you need not say which: it means that session. Each statement says where it comes from and how old it is. It changes nothing, and reads no mail for you.",
    "What is not printed to a terminal is less than 4 KB unless you ask for --details. --json always has all of it.",
  ],
  examples: [
    { line: "reeve recover builder", does: "what happened, what is fresh, and what to do next" },
    { line: "reeve recover --details", does: "inside a session: everything about itself" },
  ],

  async run(input, context) {
    const [session] = input.arguments;
    const { output, isJson } = context;
    const isWhole = input.flag("details");
    const details = isWhole || isJson || output.isTerminal;
    const found = await context.client().recover({ ...(session === undefined ? {} : { session }), details });
    if (isJson || !output.isTerminal) {
      answer(context, found, () => found.text);
      return 0;
    }
    const { recoveryPage } = await import("../recovery-text.ts");
    const page = await recoveryPage(found, output, { isWhole, now: Date.now() });
    answer(context, found, () => page);
    return 0;
  },
};
