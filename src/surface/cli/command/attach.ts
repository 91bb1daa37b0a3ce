import { isatty } from "node:tty";
import { answer } from "../answer.ts";
import { usage } from "../command-line.ts";
import type { Command } from "../command.ts";

export const attachCommand: Command = {
  name: "attach",
  handsOver: true,
  summary: "be in a session's terminal; leave it running with Ctrl-b d",
  arguments: [{ name: "session", completion: "session" }],
  options: [],
  notes: [
    "Inside a tmux of your own that takes Ctrl-b for itself, the keys are others: the session's status line shows them.",
    "With --json it only prints what to run, and the keys.",
  ],
  examples: [{ line: "reeve attach builder", does: "see it and type" }],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const { takenKeys } = await import("../outer-tmux.ts");
    const taken = await takenKeys(context.environment);
    const command = await context.client().getAttachCommand({ session, taken: [...(taken ?? USUALLY_TAKEN)] });
    if (context.isJson) {
      answer(context, command, () => "");
      return 0;
    }
    if (!isatty(0) || !isatty(1))
      throw usage(
        "not-a-terminal",
        `attach needs a terminal, and this is none; use reeve data ${session} to read it or reeve send ${session} to answer.`,
      );
    if (command.detach === null) context.output.note(NOT_PASSED_ON);
    else if (taken === null)
      context.output.note(`${NOT_TOLD} ${command.detach}, or with C-b d if its prefix is not C-b.`);
    const { runInForeground } = await import("../foreground.ts");
    // Without TMUX, or tmux would refuse to be attached from inside another one.
    return await runInForeground(command.argv, { ...context.environment, TMUX: undefined });
  },
};

/** By a tmux that did not say. */
const USUALLY_TAKEN = ["C-b=C-b C-b"];
const NOT_TOLD = "You are in a tmux that did not say which keys it takes. Leave the session running with";
const NOT_PASSED_ON =
  "Your tmux takes C-b for itself and has no key that passes it on; bind one first with: tmux bind C-b send-prefix";
