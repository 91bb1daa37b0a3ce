import { usage } from "../usage.ts";
import type { CliCommand } from "../command.ts";
import { forEachSession } from "../each-session.ts";

export const seenCommand: CliCommand = {
  name: "seen",
  takesKey: true,
  summary: "mark sessions as seen, so that they no longer count as finished or failed",
  arguments: [{ name: "session", isOptional: true, isRepeated: true, completion: "session" }],
  options: [
    { name: "all", summary: "every session with something that nobody has seen" },
    {
      name: "through",
      value: "CURSOR",
      type: "cursor",
      summary: "in a session: it knows what happened up to this cursor (default: up to now)",
    },
  ],
  notes: [
    "reeve data, reeve attach and --wait do this too when they show the end of a turn on a terminal. A session that asks something, or whose process died, still needs you.",
    "Called in a session: that session is not woken any more for what has happened up to now in the sessions that you name; if it names itself, in all the sessions that it started.",
  ],
  examples: [
    { line: "reeve seen builder", does: "you have seen how its turn ended" },
    { line: "reeve seen --all", does: "you have seen everything" },
  ],

  async run(input, context) {
    const client = context.client();
    const isAll = input.flag("all");
    if (isAll && input.arguments.length > 0) throw usage("all-and-names", "Give sessions or --all, not both.");
    if (!isAll && input.arguments.length === 0)
      throw usage("missing-argument", "seen needs a session; name one or more, or use --all.");
    const references = isAll
      ? (await client.listSessions()).sessions.filter(({ unseen }) => unseen).map(({ session_id: id }) => id)
      : input.arguments;
    if (references.length === 0 && !context.isJson) context.output.note("You have seen everything.");
    const options = { isList: isAll, tell: (name: string) => `${name}: seen.` };
    const through = input.number("through");
    const known = through === undefined ? {} : { through };
    const see = (session: string) => client.acknowledgeSession({ session, ...known });
    return await forEachSession(context, references, see, options);
  },
};
