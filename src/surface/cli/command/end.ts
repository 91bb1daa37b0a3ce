import type { Client } from "../../../client/create-client.ts";
import type { InputOf, SessionView } from "../../../client/operation-types.ts";
import { usage } from "../command-line.ts";
import type { CliContext, Command, CommandInput } from "../command.ts";
import { forEachSession } from "../each-session.ts";
import type { Outcome } from "../each-session.ts";
import { oneLine } from "../session-text.ts";

export const endCommand: Command = {
  name: "end",
  takesKey: true,
  summary: "end sessions and everything they started, and prove that it is gone",
  arguments: [{ name: "session", isOptional: true, isRepeated: true, completion: "session" }],
  options: [
    { name: "all", summary: "every session that was not ended" },
    {
      name: "when",
      value: "WHEN",
      summary: "now, or after the turn under way, which is the default",
      choices: ["now", "after-turn"],
    },
    { name: "grace", value: "SECONDS", type: "number", summary: "between the polite and the firm signal" },
  ],
  notes: [
    "Returns when the end is proven. With --json: one named session answers {done, session}; several, or --all, answer {done, results}.",
  ],
  examples: [
    { line: "reeve end builder", does: "after its turn, with what proves it" },
    { line: "reeve end --all --when now", does: "everything, at once" },
  ],

  async run(input, context) {
    const client = context.client();
    const isAll = input.flag("all");
    if (isAll && input.arguments.length > 0) throw usage("all-and-names", "Give sessions or --all, not both.");
    if (!isAll && input.arguments.length === 0)
      throw usage("missing-argument", "end needs a session; name one or more, or use --all.");
    const references = isAll
      ? (await client.listSessions()).sessions.map((session) => session.session_id)
      : input.arguments;
    if (references.length === 0 && !context.isJson) context.output.note("No sessions to end.");
    return await forEachSession(context, references, (session) => endOne(client, requestOf(session, input), context), {
      isList: isAll,
    });
  },
};

/** Quick ends are told at once; whoever waits longer learns what for. */
const FIRST_SECONDS = 3;
const NEXT_SECONDS = 60;

async function endOne(client: Client, request: InputOf<"endSession">, context: CliContext): Promise<Outcome> {
  let outcome = await client.endSession({ ...request, timeout_seconds: FIRST_SECONDS });
  if (!outcome.done) context.output.note(whyNotYet(outcome.session, request.when === "now"));
  // Asking again is harmless, and it goes on across a restart of the daemon.
  while (!outcome.done) outcome = await client.endSession({ ...request, timeout_seconds: NEXT_SECONDS });
  return outcome;
}

function requestOf(session: string, input: CommandInput): InputOf<"endSession"> {
  const grace = input.number("grace");
  return {
    session,
    when: input.text("when") === "now" ? "now" : "after-turn",
    ...(grace === undefined ? {} : { grace_seconds: grace }),
  };
}

export function whyNotYet(session: SessionView, isNow: boolean): string {
  const name = oneLine(session.name);
  if (session.liveness === "unreachable")
    return `${name} cannot be reached (${oneLine(session.liveness_evidence)}), so its end is not proven yet; still trying.`;
  if (isNow || session.activity !== "working" || session.exit !== null)
    return `${name} was asked to stop; waiting until that is proven.`;
  return `${name} is in the middle of a turn; it ends when the turn is over. To end it at once: reeve end ${name} --when now`;
}
