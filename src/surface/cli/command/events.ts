import type { EventView } from "../../../client/operation-types.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { UNREAD } from "../exit-codes.ts";
import { didYouMean } from "../suggestion.ts";

export const eventsCommand: CliCommand = {
  name: "events",
  summary: "show what happened, oldest first",
  arguments: [{ name: "session", isOptional: true, completion: "session" }],
  options: [
    { name: "follow", short: "f", summary: "keep printing events as they happen; starts now unless you give --since" },
    {
      name: "session",
      value: "SESSION",
      summary: "only events of this session; the same as the argument",
      completion: "session",
    },
    { name: "type", value: "TYPE", summary: "only events of this type; --json shows the types", isRepeatable: true },
    { name: "since", value: "CURSOR", type: "cursor", summary: "only events after this cursor" },
  ],
  notes: ["Without --follow it prints all events so far and ends. With --follow --json it prints one object per line."],
  examples: [
    { line: "reeve events builder", does: "what happened in one session" },
    { line: "reeve events --follow", does: "everything as it happens" },
    { line: "reeve events -f --type turn-completed --type turn-failed", does: "only the ends of turns" },
    { line: "reeve events --follow --json", does: "everything as it happens, for a program" },
  ],

  async run(input, context) {
    const session = sessionOf(input);
    const client = context.client();
    const scope = session === undefined ? {} : { session };
    const isWanted = await filterOf(input.texts("type"));
    const lineOf = context.isJson ? () => "" : await linesFor(context);
    if (!input.flag("follow")) return await showAll(context, scope, input.number("since") ?? 0, { isWanted, lineOf });
    const since = input.number("since") ?? (await client.daemonStatus()).cursor;
    for await (const event of client.followEvents({ ...scope, since })) {
      const line = lineOf(event);
      if (!isWanted(event)) continue;
      if (context.isJson) context.output.printJson(event);
      else context.output.print(line);
      if (!context.output.hasReader()) return UNREAD;
    }
    return 0;
  },
};

interface Shown {
  readonly isWanted: (event: EventView) => boolean;
  readonly lineOf: (event: EventView) => string;
}

/** Page by page; only --json needs them all at once. */
async function showAll(
  context: CliContext,
  scope: { readonly session?: string },
  since: number,
  { isWanted, lineOf }: Shown,
): Promise<number> {
  const client = context.client();
  const all: EventView[] = [];
  let prunedThrough = 0;
  for (let cursor = since; ;) {
    const page = await client.readEvents({ ...scope, since: cursor });
    if (cursor === since && cursor < page.pruned_through) {
      prunedThrough = page.pruned_through;
      context.output.note(`Events up to ${prunedThrough} were removed because they were old (reeve help prune).`);
    }
    cursor = page.cursor;
    const lines = page.events.map((event) => ({ event, line: lineOf(event) })).filter(({ event }) => isWanted(event));
    if (context.isJson) all.push(...lines.map(({ event }) => event));
    else context.output.print(lines.map(({ line }) => line).join(""));
    if (page.events.length === 0 || !context.output.hasReader()) {
      if (context.isJson) answer(context, { events: all, cursor, pruned_through: prunedThrough }, () => "");
      return 0;
    }
  }
}

function sessionOf(input: CommandInput): string | undefined {
  const [argument] = input.arguments;
  const option = input.text("session");
  if (argument !== undefined && option !== undefined)
    throw usage("session-twice", "Give the session as an argument or with --session, not both.");
  return argument ?? option;
}

async function filterOf(types: readonly string[]): Promise<Shown["isWanted"]> {
  if (types.length === 0) return () => true;
  const { EVENT_TYPES } = await import("../../../session/event-sentence.ts");
  const unknown = types.find((type) => !EVENT_TYPES.includes(type));
  if (unknown !== undefined)
    throw usage(
      "bad-value",
      `There are no events of the type "${unknown}"; ${didYouMean(unknown, EVENT_TYPES) ?? "reeve events --json shows those there are"}.`,
    );
  return ({ type }) => types.includes(type);
}

async function linesFor(context: CliContext): Promise<Shown["lineOf"]> {
  const { eventLines } = await import("../event-text.ts");
  const { everySession } = await import("../every-session.ts");
  const sessions = await everySession(context.client());
  const { hasColour, isTerminal, width } = context.output;
  return eventLines(sessions, { hasColour, now: () => new Date(), width: isTerminal ? width : null }).line;
}
