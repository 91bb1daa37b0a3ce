import { isatty } from "node:tty";
import { answer } from "../answer.ts";
import { usage } from "../command-line.ts";
import type { Command } from "../command.ts";

export const attachCommand: Command = {
  name: "attach",
  summary: "be in a session's terminal; detach with Ctrl-b d",
  arguments: [{ name: "session", completion: "session" }],
  options: [],
  notes: ["With --json it only prints what to run."],
  examples: [{ line: "reeve attach builder", does: "see it and type" }],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const command = await context.client().getAttachCommand({ session });
    if (context.isJson) {
      answer(context, command, () => "");
      return 0;
    }
    if (!isatty(0) || !isatty(1))
      throw usage(
        "not-a-terminal",
        `attach needs a terminal, and this is none; use reeve data ${session} to read it or reeve send ${session} to answer.`,
      );
    const { runInForeground } = await import("../foreground.ts");
    // Without TMUX, or tmux would refuse to be attached from inside another one.
    return await runInForeground(command.argv, { ...context.environment, TMUX: undefined });
  },
};
