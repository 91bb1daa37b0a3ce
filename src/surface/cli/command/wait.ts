import type { WaitInput } from "../../../client/wait.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { WAKE_REASONS } from "../../../session/wake.ts";
import type { WakeReason } from "../../../session/wake.ts";
import { answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { WAIT_STATUS } from "../exit-codes.ts";
import { reportWait } from "../wait-text.ts";

export const waitCommand: CliCommand = {
  name: "wait",
  summary: "wait until a session finishes a turn, asks for something or ends",
  arguments: [{ name: "session", isOptional: true, isRepeated: true, completion: "session" }],
  options: [
    {
      name: "role",
      value: "ROLE",
      summary: "wait for the sessions of this role, instead of naming them",
    },
    {
      name: "for",
      value: "REASON",
      summary: "what to wait for; returns early if that can no longer happen",
      choices: WAKE_REASONS,
      isRepeatable: true,
    },
    { name: "any", summary: "with several sessions: wait for one of them (the default)" },
    { name: "all", summary: "with several sessions: wait for each of them" },
    {
      name: "since",
      value: "CURSOR",
      type: "cursor",
      summary: "count only what happened after this cursor, from an earlier answer (default: since your last request)",
    },
    {
      name: "timeout",
      value: "SECONDS",
      type: "number",
      summary: "give up after this time and exit with 75 (default: no limit)",
    },
  ],
  notes: [
    "Without a session it waits for those that work or ask something now: for one of them, or with --all for each. One that has failed already counts too; one that was asked nothing does not.",
    "Without --since it is about what you last asked of the session (start, send, approve, deny). If that turn is over already, wait returns at once and says how it ended. If that starts no turn, wait says so and why.",
    "Exits with 0 only if the turn completed (with --for: if one of those happened; a program without turns: if it exited with 0). The other codes say what happened instead: reeve help exit-codes",
  ],
  examples: [
    { line: "reeve wait builder && deploy", does: "deploy only if its turn completed" },
    {
      line: "reeve wait builder --for awaiting-approval",
      does: "until it asks; fails if the turn ends without asking",
    },
    { line: "reeve wait a b c --all --timeout 600", does: "wait for all three, at most ten minutes" },
    { line: "reeve wait", does: "until any session needs you, or is done" },
    { line: "reeve wait --role review --all", does: "until every review is done" },
  ],

  async run(input, context) {
    const client = context.client();
    const role = input.text("role");
    if (role !== undefined && input.arguments.length > 0)
      throw usage("role-and-names", "Give sessions or --role, not both.");
    // A person reads the last sentence of it; a program gets the end of the whole reply.
    const request = { ...requestOf(input), ...(role === undefined ? {} : { role }), reply: context.isJson };
    try {
      return await reportWait(context, await client.waitForSession(request), request.mode);
    } catch (error) {
      if (error instanceof ReeveError && error.code === NOBODY) return tellNobody(context, error.message);
      throw error;
    }
  },
};

const NOBODY = "nothing-to-wait-for";

function tellNobody(context: CliContext, why: string): number {
  answerInWords(context, { done: false, ok: false, reason: NOBODY, why, woken: [] }, () => why);
  return WAIT_STATUS[NOBODY];
}

function requestOf(input: CommandInput): WaitInput {
  if (input.flag("any") && input.flag("all")) throw usage("any-and-all", "Give --any or --all, not both.");
  const since = input.number("since");
  const timeout = input.number("timeout");
  if (timeout !== undefined && timeout < 0)
    throw usage("bad-value", `--timeout takes 0 seconds or more, not ${timeout}.`);
  const [session, ...also] = input.arguments;
  return {
    ...(session === undefined ? {} : { session }),
    also,
    for: input.texts("for").filter((reason): reason is WakeReason => WAKE_REASONS.some((known) => known === reason)),
    mode: input.flag("all") ? "all" : "any",
    ...(since === undefined ? {} : { since }),
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
  };
}
