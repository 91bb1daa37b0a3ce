import { isatty } from "node:tty";
import type { Client } from "../../../client/create-client.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { byNeed } from "../../../session/need-order.ts";
import { acknowledge } from "../acknowledge.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand } from "../command.ts";

export const attachCommand: CliCommand = {
  name: "attach",
  handsOver: true,
  summary: "open a session's terminal; press Ctrl-b d to leave it running",
  arguments: [{ name: "session", isOptional: true, completion: "session" }],
  options: [{ name: "read-only", short: "r", summary: "only look: what you type does not reach the session" }],
  notes: [
    "Without a session it opens the one that needs you most: the first of reeve list --needs-me.",
    "If you are inside your own tmux, other keys may leave the session: its status line shows them.",
    "With --json it only prints the command to run and the keys that leave the session.",
  ],
  examples: [
    { line: "reeve attach builder", does: "see it and type" },
    { line: "reeve attach", does: "open the session that needs you most" },
    { line: "reeve attach builder --read-only", does: "watch it, without typing into it by accident" },
  ],

  async run(input, context) {
    const client = context.client();
    const session = input.arguments[0] ?? (await neediest(client));
    const { takenKeys } = await import("../outer-tmux.ts");
    const taken = await takenKeys(context.environment);
    const request = { session, taken: [...(taken ?? USUALLY_TAKEN)], read_only: input.flag("read-only") };
    const command = await client.getAttachCommand(request);
    if (context.isJson) {
      answer(context, command, () => "");
      return 0;
    }
    if (!isatty(0) || !isatty(1))
      throw usage(
        "not-a-terminal",
        `attach needs a terminal, and this is not one; use reeve data ${session} to read it or reeve send ${session} to answer.`,
      );
    if (command.detach === null) context.output.note(NOT_PASSED_ON);
    else if (taken === null)
      context.output.note(`${NOT_TOLD} ${command.detach}, or with C-b d if its prefix is not C-b.`);
    const { runInForeground } = await import("../foreground.ts");
    // Without TMUX, or tmux would refuse to be attached from inside another one.
    const status = await runInForeground(command.argv, { ...context.environment, TMUX: undefined });
    const now = await client.getSession({ session: command.session_id });
    await acknowledge(context, client, now);
    return status;
  },
};

/** Of those that have a terminal to attach to. */
async function neediest(client: Client): Promise<string> {
  const { sessions } = await client.listSessions({ needs_me: true });
  const [first] = sessions.filter(({ liveness }) => liveness === "running").toSorted(byNeed);
  if (first !== undefined) return first.session_id;
  throw new ReeveError({
    code: "nobody-needs-you",
    kind: "not-found",
    message: "Nobody needs you right now; name a session: reeve attach NAME (see reeve list).",
  });
}

/** By a tmux that did not say. */
const USUALLY_TAKEN = ["C-b=C-b C-b"];
const NOT_TOLD = "You are in a tmux that did not say which keys it takes. Leave the session running with";
const NOT_PASSED_ON =
  "Your tmux takes C-b for itself and has no key that passes it on; bind one first with: tmux bind C-b send-prefix";
