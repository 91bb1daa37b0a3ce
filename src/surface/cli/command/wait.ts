import type { WaitInput } from "../../../client/wait.ts";
import type { OutputOf } from "../../../client/operation-types.ts";
import { WAKE_REASONS } from "../../../session/wake.ts";
import type { WakeReason } from "../../../session/wake.ts";
import { answer } from "../answer.ts";
import { usage } from "../command-line.ts";
import { TIMED_OUT } from "../command.ts";
import type { CliContext, Command, CommandInput } from "../command.ts";
import { infoOf, oneLine } from "../session-text.ts";

export const waitCommand: Command = {
  name: "wait",
  summary: "wait until a session finishes a turn, asks for something or ends",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [
    {
      name: "for",
      value: "REASON",
      summary: "wake only for this (and for the end)",
      choices: WAKE_REASONS,
      isRepeatable: true,
    },
    { name: "any", summary: "until one of several woke; the default" },
    { name: "all", summary: "until each of several woke" },
    {
      name: "since",
      value: "CURSOR",
      type: "number",
      summary: "count what happened after this cursor too, from an earlier answer",
    },
    {
      name: "timeout",
      value: "SECONDS",
      type: "number",
      summary: "give up after so long and exit with 75; otherwise as long as it takes",
    },
  ],
  examples: [
    { line: "reeve wait builder --for turn-completed", does: "until its turn is done" },
    { line: "reeve wait a b c --all --timeout 600", does: "until all three woke, ten minutes at most" },
  ],

  async run(input, context) {
    const request = requestOf(input);
    const waited = await context.client().waitForSession(request);
    const status = reportWait(context, waited);
    // It ended, and what was waited for will not come.
    const wanted = request.for ?? [];
    const isOther = waited.done && wanted.length > 0 && !wanted.some((reason) => reason === waited.reason);
    return isOther ? 1 : status;
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

export function reportWait(context: CliContext, waited: OutputOf<"waitForSession">): number {
  if (!waited.done && !context.isJson)
    context.output.note(`Nothing to wake for in time; to go on from here: --since ${waited.cursor}.`);
  const lines = waited.woken.map((wake) => {
    const info = wake.session_id === waited.session.session_id ? ` ${infoOf(waited.session)}` : "";
    return `${oneLine(wake.name)}: ${wake.reason}.${info}\n`;
  });
  answer(context, waited, () => lines.join(""));
  return waited.done ? 0 : TIMED_OUT;
}
