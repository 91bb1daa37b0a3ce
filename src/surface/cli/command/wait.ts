import type { WaitInput } from "../../../client/wait.ts";
import { WAKE_REASONS } from "../../../session/wake.ts";
import type { WakeReason } from "../../../session/wake.ts";
import { usage } from "../command-line.ts";
import type { Command, CommandInput } from "../command.ts";
import { reportWait } from "../wait-text.ts";

export const waitCommand: Command = {
  name: "wait",
  summary: "wait until a session finishes a turn, asks for something or ends",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [
    {
      name: "for",
      value: "REASON",
      summary: "succeed only for this; returns as soon as it cannot happen any more",
      choices: WAKE_REASONS,
      isRepeatable: true,
    },
    { name: "any", summary: "until one of several woke; the default" },
    { name: "all", summary: "until each of several woke" },
    {
      name: "since",
      value: "CURSOR",
      type: "number",
      summary: "count what happened after this cursor, from an earlier answer; otherwise what was asked last",
    },
    {
      name: "timeout",
      value: "SECONDS",
      type: "number",
      summary: "give up after so long and exit with 75; otherwise as long as it takes",
    },
  ],
  notes: [
    "Without --since it is about what you last asked of the session (start, send, approve, deny): if that turn is over already, it returns at once with how it ended; if nothing will come of it, it says so and why. It does not matter how late you ask.",
    "Exits with 0 only if the turn completed (with --for: if one of those happened; a program without turns: if it exited with 0). The other codes say what happened instead: reeve help exit-codes",
  ],
  examples: [
    { line: "reeve wait builder && deploy", does: "deploy only if its turn completed" },
    {
      line: "reeve wait builder --for awaiting-approval",
      does: "until it asks; fails if the turn ends without asking",
    },
    { line: "reeve wait a b c --all --timeout 600", does: "until all three woke, ten minutes at most" },
  ],

  async run(input, context) {
    const request = requestOf(input);
    return reportWait(context, await context.client().waitForSession(request), request.mode);
  },
};

function requestOf(input: CommandInput): WaitInput {
  const [session = "", ...also] = input.arguments;
  if (input.flag("any") && input.flag("all")) throw usage("any-and-all", "Give --any or --all, not both.");
  const since = input.number("since");
  const timeout = input.number("timeout");
  if (timeout !== undefined && timeout < 0) throw usage("bad-value", "--timeout must not be negative.");
  return {
    session,
    also,
    for: input.texts("for").filter((reason): reason is WakeReason => WAKE_REASONS.some((known) => known === reason)),
    mode: input.flag("all") ? "all" : "any",
    ...(since === undefined ? {} : { since }),
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
  };
}
