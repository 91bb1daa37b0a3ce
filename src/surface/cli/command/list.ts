import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { BETWEEN_PARTS, byNeed, summaryOf } from "../../../session/need-order.ts";
import { STATES } from "../../../session/states.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { foreignTable } from "../foreign-text.ts";
import { FILE_OPTION, manifestPath } from "../manifest-file.ts";
import { oneLine, sessionTable } from "../session-text.ts";

export const listCommand: CliCommand = {
  name: "list",
  summary: "list sessions, those that need you first, with what each asks, says or failed with",
  arguments: [],
  options: [
    { name: "needs-me", summary: "only sessions that wait for you: blocked, failed, or finished and not seen yet" },
    { name: "foreign", summary: "agents of yours that Reeve did not start, and how to continue one in Reeve" },
    { name: "role", value: "ROLE", summary: "only sessions with this role" },
    { name: "agent", value: "AGENT", summary: "only sessions of this agent" },
    { name: "state", value: "STATE", summary: "only sessions in this state", choices: STATES },
    { name: "manifest", summary: "only sessions that the manifest of this project (reeve.toml) made" },
    { ...FILE_OPTION, summary: "only sessions that this manifest made" },
    { name: "all", short: "a", summary: "also sessions that were ended, the newest end first" },
    { name: "ended", summary: "only sessions that were ended, the newest end first" },
    {
      name: "limit",
      value: "N",
      type: "count",
      most: 1_000,
      summary: "at most so many ended sessions; 500 by default",
    },
    { name: "page", value: "PAGE", summary: "go on where the list before ended: its next_page" },
    { name: "quiet", short: "q", summary: "print only their names, one per line" },
    { name: "watch", short: "w", summary: "keep the list open and update it; Ctrl-C leaves" },
  ],
  notes: [
    "Order: those that ask something, those that failed, those that finished and were not looked at yet, then working, idle, paused and stopped ones. SINCE is how long that has been so.",
    "A finished or failed turn counts as seen once you read it on a terminal (reeve data, reeve attach, --wait), once you selected it on the board and looked at its preview, or with reeve seen.",
    "With --watch --json it prints one object per line, at first and after each change.",
  ],
  examples: [
    { line: "reeve list", does: "every session that was not ended" },
    { line: "reeve list --needs-me --watch", does: "watch who needs you" },
    { line: "reeve list -q --role review | xargs reeve end", does: "end every session of a role" },
    { line: "reeve list --manifest", does: "what reeve up made for this project" },
    { line: "reeve list --ended --limit 20", does: "the last 20 sessions that ended" },
    { line: "reeve list --all --json", does: "every session, as JSON for a program" },
  ],

  async run(input, context) {
    if (input.flag("foreign")) return await listForeign(context);
    const client = context.client();
    const request = requestOf(input, context);
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
    if (!input.flag("quiet")) context.output.note(footerOf(listed));
    if (typeof listed.next_page === "string")
      context.output.note(`There are more that ended: reeve list --ended --page ${listed.next_page}`);
    return 0;
  },
};

type Listed = OutputOf<"listSessions">;

function requestOf(input: CommandInput, context: CliContext): InputOf<"listSessions"> {
  const [role, agent] = [input.text("role"), input.text("agent")];
  const state = STATES.find((known) => known === input.text("state"));
  const [limit, page] = [input.number("limit"), input.text("page")];
  const ended = input.flag("ended");
  // Who asks for those that are stopped means also those that were ended.
  const all = !ended && (input.flag("all") || state === "stopped");
  if ((limit !== undefined || page !== undefined) && !ended && !all)
    throw usage("option-without-effect", "--limit and --page are for ended sessions; add --ended or --all.");
  return {
    all,
    ended,
    ...(limit === undefined ? {} : { limit }),
    ...(page === undefined ? {} : { page }),
    needs_me: input.flag("needs-me"),
    ...(isOfManifest(input) ? { manifest: manifestPath(input, context) } : {}),
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

function footerOf({ sessions, inbox_open: open = 0 }: Listed): string {
  const summary = summaryOf(sessions);
  return open === 0 ? summary : `${summary}${BETWEEN_PARTS}${open} in your inbox: reeve inbox`;
}

function nothingThere(input: CommandInput): string {
  if (input.flag("needs-me")) return "Nobody needs you.";
  if (input.flag("ended")) return "No session that ended is kept, or none fits.";
  const isFiltered = ["role", "agent", "state"].some((name) => input.text(name) !== undefined) || isOfManifest(input);
  return isFiltered
    ? "No session fits; reeve list --all shows every one."
    : 'No sessions. Start one with: reeve start practice "hello"';
}

function isOfManifest(input: CommandInput): boolean {
  return input.flag("manifest") || input.text("file") !== undefined;
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
