import type { Client } from "../../../client/create-client.ts";
import type { InputOf, SessionView } from "../../../client/operation-types.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand, CommandInput, OptionSpec } from "../command.ts";
import { forEachSession } from "../each-session.ts";
import type { Outcome } from "../each-session.ts";
import { oneLine } from "../session-text.ts";

/** How it is ended. */
export const END_OPTIONS: readonly OptionSpec[] = [
  {
    name: "when",
    value: "WHEN",
    summary: "when to end it; after-turn, the default, waits for the turn under way",
    choices: ["now", "after-turn"],
  },
  {
    name: "grace",
    value: "SECONDS",
    type: "number",
    summary: "how long processes may take to end before they are killed",
  },
  { name: "remove-worktree", summary: "then remove the worktree that Reeve made for it, unless work could be lost" },
];

export const endCommand: CliCommand = {
  name: "end",
  takesKey: true,
  summary: "end sessions and everything they started, and prove that it is gone",
  arguments: [{ name: "session", isOptional: true, isRepeated: true, completion: "session" }],
  options: [
    { name: "all", summary: "every session that was not ended" },
    ...END_OPTIONS,
    { name: "even-if-held", summary: "end it although it is held; it stays held, so that nothing of it is pruned" },
    { name: "cancel", summary: "cancel an end that still waits for the turn under way" },
  ],
  notes: [
    "Ctrl-C only stops waiting; the session still ends. While it still waits for a turn, you can cancel the end with --cancel.",
    "Returns when the end is proven. With --json: one named session answers {done, session}; several, or --all, answer {done, results}.",
  ],
  examples: [
    { line: "reeve end builder", does: "end it after its turn" },
    { line: "reeve end --all --when now", does: "end every session at once" },
    { line: "reeve end builder --remove-worktree", does: "and remove its worktree; if it is kept, you read why" },
    { line: "reeve end builder --cancel", does: "cancel that, so that it goes on after its turn" },
  ],

  async run(input, context) {
    const client = context.client();
    const isAll = input.flag("all");
    if (isAll && input.arguments.length > 0) throw usage("all-and-names", "Give sessions or --all, not both.");
    if (!isAll && input.arguments.length === 0)
      throw usage("missing-argument", "end needs a session; name one or more, or use --all.");
    if (input.flag("cancel")) return await cancel(input, context, client);
    const references = isAll
      ? (await client.listSessions()).sessions.map((session) => session.session_id)
      : input.arguments;
    if (references.length === 0 && !context.isJson) context.output.note("No sessions to end.");
    return await forEachSession(context, references, (session) => endOne(client, endRequest(session, input), context), {
      isList: isAll,
    });
  },
};

async function cancel(input: CommandInput, context: CliContext, client: Client): Promise<number> {
  if (input.text("when") !== undefined || input.number("grace") !== undefined || input.flag("remove-worktree"))
    throw usage("cancel-alone", "--cancel cancels an end; leave --when, --grace and --remove-worktree out.");
  const isAll = input.flag("all");
  const references = isAll ? await beingEnded(client) : input.arguments;
  if (references.length === 0 && !context.isJson) context.output.note("No session is being ended.");
  return await forEachSession(context, references, (session) => client.cancelEnd({ session }), { isList: isAll });
}

async function beingEnded(client: Client): Promise<readonly string[]> {
  const { sessions } = await client.listSessions();
  return sessions.filter(({ desired }) => desired === "stopped").map((session) => session.session_id);
}

/** Quick ends are told at once; whoever waits longer learns what for. */
const FIRST_SECONDS = 3;
const NEXT_SECONDS = 60;

export async function endOne(client: Client, request: InputOf<"endSession">, context: CliContext): Promise<Outcome> {
  const isNow = request.when === "now";
  let isOver = false;
  context.onInterrupt(() => (isOver ? null : goesOn(request.session, isNow)));
  try {
    let outcome = await client.endSession({ ...request, timeout_seconds: FIRST_SECONDS });
    if (isPending(outcome)) context.output.note(whyNotYet(outcome.session, isNow));
    // The same request, by its key: it is waited for across a restart of the daemon, and not made again if it was taken back.
    while (isPending(outcome)) outcome = await client.endSession({ ...request, timeout_seconds: NEXT_SECONDS });
    if (!outcome.done) throw takenBack(outcome.session);
    return outcome;
  } finally {
    isOver = true;
  }
}

function isPending({ done, session }: Outcome): boolean {
  return !done && session.desired === "stopped";
}

function takenBack({ name, session_id }: SessionView): ReeveError {
  return new ReeveError({
    code: "end-cancelled",
    kind: "conflict",
    message: `The end of ${oneLine(name)} was cancelled; it goes on.`,
    details: { session_id },
  });
}

function goesOn(session: string, isNow: boolean): string {
  const back = isNow ? "" : ` While it still waits for a turn, you can cancel it: reeve end ${session} --cancel`;
  return `The end of ${session} goes on.${back}`;
}

export function endRequest(session: string, input: CommandInput): InputOf<"endSession"> {
  const grace = input.number("grace");
  return {
    session,
    when: input.text("when") === "now" ? "now" : "after-turn",
    ...(grace === undefined ? {} : { grace_seconds: grace }),
    ...(input.flag("even-if-held") ? { even_if_held: true } : {}),
    ...(input.flag("remove-worktree") ? { worktree: "remove" } : {}),
  };
}

export function whyNotYet(session: SessionView, isNow: boolean): string {
  const name = oneLine(session.name);
  if (session.liveness === "unreachable")
    return `${name} cannot be reached (${oneLine(session.liveness_evidence)}), so its end is not proven yet; still trying.`;
  if (isNow || session.activity !== "working" || session.exit !== null)
    return `${name} was asked to stop; waiting until that is proven.`;
  return `${name} is in the middle of a turn; it ends when the turn is over. To end it at once: reeve end ${name} --when now; to cancel that: reeve end ${name} --cancel`;
}
