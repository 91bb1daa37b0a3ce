import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { byNeed, summaryOf } from "../../../session/need-order.ts";
import { STATES } from "../../../session/states.ts";
import { answer } from "../answer.ts";
import { usage } from "../command-line.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { foreignTable } from "../foreign-text.ts";
import { oneLine, sessionTable } from "../session-text.ts";

export const listCommand: CliCommand = {
  name: "list",
  summary: "list sessions: who needs you first, and what each asks, says or died of",
  arguments: [],
  options: [
    { name: "needs-me", summary: "only those that wait for you: blocked, failed, or finished and not seen yet" },
    { name: "foreign", summary: "agents of yours that Reeve did not start, and how to bring one under its care" },
    { name: "role", value: "ROLE", summary: "only those of this role" },
    { name: "agent", value: "AGENT", summary: "only those of this agent" },
    { name: "state", value: "STATE", summary: "only those in this state", choices: STATES },
    { name: "all", short: "a", summary: "those that were ended too" },
    { name: "quiet", short: "q", summary: "print only their names, one per line" },
    { name: "watch", short: "w", summary: "stay, and show what changes; Ctrl-C leaves" },
  ],
  notes: [
    "Order: those that ask something, those that failed, those that finished and were not looked at yet, then working, idle, paused and stopped ones. SINCE is the time in that condition.",
    "A finished or failed turn counts as seen once you read it on a terminal (reeve data, reeve attach, --wait), once you selected it on the board and looked at its preview, or with reeve seen.",
    "With --watch --json it prints one object per line, at first and after each change.",
  ],
  examples: [
    { line: "reeve list", does: "every session that was not ended" },
    { line: "reeve list --needs-me --watch", does: "who needs you, as it changes" },
    { line: "reeve list -q --role review | xargs reeve end", does: "names, for another command" },
    { line: "reeve list --all --json", does: "everything that is known, for a program" },
  ],

  async run(input, context) {
    if (input.flag("foreign")) return await listForeign(context);
    const client = context.client();
    const request = requestOf(input);
    const show = (listed: Listed): Promise<string> => listText(listed, input, context);
    if (input.flag("watch")) {
      if (!context.isJson && !context.output.isTerminal)
        throw usage("not-a-terminal", "list --watch needs a terminal; use reeve events --follow, or add --json.");
      const { watchList } = await import("../list-watch.ts");
      return await watchList(context, client, () => client.listSessions(request), show);
    }
    if (context.isJson) {
      // Passed on unread: parsing and printing a hundred sessions is a tenth of the whole command.
      context.output.passJson(await client.listSessionsBytes(request));
      return 0;
    }
    const listed = await client.listSessions(request);
    if (listed.sessions.length === 0 && !input.flag("quiet")) {
      context.output.note(nothingThere(input));
      return 0;
    }
    context.output.print(await show(listed));
    if (!input.flag("quiet")) context.output.note(summaryOf(listed.sessions));
    return 0;
  },
};

type Listed = OutputOf<"listSessions">;

function requestOf(input: CommandInput): InputOf<"listSessions"> {
  const [role, agent] = [input.text("role"), input.text("agent")];
  const state = STATES.find((known) => known === input.text("state"));
  return {
    // Who asks for those that are stopped means also those that were ended.
    all: input.flag("all") || state === "stopped",
    needs_me: input.flag("needs-me"),
    ...(role === undefined ? {} : { role }),
    ...(agent === undefined ? {} : { agent }),
    ...(state === undefined ? {} : { state }),
  };
}

async function listText({ sessions }: Listed, input: CommandInput, { output }: CliContext): Promise<string> {
  if (!input.flag("quiet")) return await sessionTable(sessions, output, Date.now());
  return sessions
    .toSorted(byNeed)
    .map(({ name }) => `${oneLine(name)}\n`)
    .join("");
}

function nothingThere(input: CommandInput): string {
  if (input.flag("needs-me")) return "Nobody needs you.";
  const isFiltered = ["role", "agent", "state"].some((name) => input.text(name) !== undefined);
  return isFiltered
    ? "No session fits; reeve list --all shows every one."
    : 'No sessions. Start one with: reeve start practice "hello"';
}

async function listForeign(context: CliContext): Promise<number> {
  const listed = await context.client().listForeign();
  if (listed.foreign.length === 0 && !context.isJson) {
    context.output.note("Reeve found no agent of yours that it did not start.");
    return 0;
  }
  const table = context.isJson ? "" : await foreignTable(listed.foreign, context.output);
  answer(context, listed, () => table);
  return 0;
}
