import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { durationMs } from "../../../platform/duration.ts";
import { QUIET_KINDS, STORY_KINDS, type StoryKind } from "../../../session/story/entry.ts";
import { parseCursor } from "../../../session/story/page.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CliContext, CommandInput } from "../command.ts";
import { UNREAD } from "../exit-codes.ts";
import { paint } from "../paint.ts";
import { oneLine } from "../session-text.ts";
import { didYouMean } from "../suggestion.ts";

export const showCommand: CliCommand = {
  name: "show",
  summary: "show the story of a session: everything that happened in it, as one timeline",
  arguments: [{ name: "session", completion: "session" }],
  options: [
    {
      name: "follow",
      short: "f",
      summary: "keep printing what happens, until the session ends; starts now unless you give --since or --last",
    },
    {
      name: "only",
      value: "KINDS",
      summary: "only these kinds, separated by commas: see below",
      isRepeatable: true,
      completion: STORY_KINDS,
    },
    { name: "turn", value: "N", type: "count", summary: "only what happened in this turn" },
    { name: "errors", summary: "only what failed" },
    { name: "last", short: "n", value: "N", type: "count", most: 1_000_000, summary: "only the last N entries" },
    {
      name: "since",
      value: "WHEN",
      summary: "only what happened in the last 30m or 2h, since a time, or after the cursor of an earlier answer",
    },
  ],
  notes: [
    `Kinds: ${STORY_KINDS.join(", ")}. Without --only all but ${[...QUIET_KINDS].join(" and ")} are shown.`,
    "With --follow a call to the model is shown when it has ended. With --follow --json it prints one object per line.",
    "It works for sessions that have ended, and for imported ones (reeve import --list). Model calls are there if the session was started with --persist-session. --json has the whole texts.",
  ],
  examples: [
    { line: "reeve show builder", does: "everything that happened, in order" },
    { line: "reeve show builder --errors", does: "only what went wrong" },
    { line: "reeve show builder --turn 3 --only tools,api", does: "what one turn did, and what it asked the model" },
    { line: "reeve show builder --since 30m", does: "the last half hour" },
    {
      line: "reeve show builder --follow --last 20",
      does: "the last 20 entries, and then what happens, until it ends",
    },
  ],

  async run(input, context) {
    const client = context.client();
    const request = requestOf(input, Date.now());
    if (input.flag("follow")) return await follow(request, context);
    const all: Page["entries"] = [];
    for (let page = await client.showSession(request); ;) {
      if (context.isJson) all.push(...page.entries);
      else await draw(page, context);
      if (!page.more || !context.output.hasReader()) {
        if (context.isJson) answer(context, { ...page, entries: all }, () => "");
        else tellRest(page, context);
        return 0;
      }
      page = await client.showSession({ ...request, last: undefined, since: page.cursor });
    }
  },
};

type Page = OutputOf<"showSession">;

async function follow(request: InputOf<"showSession">, context: CliContext): Promise<number> {
  const { followStory } = await import("../follow-story.ts");
  for await (const entries of followStory(context.client(), request)) {
    if (context.isJson) for (const entry of entries) context.output.printJson(entry);
    else await drawEntries(entries, context);
    if (!context.output.hasReader()) return UNREAD;
  }
  return 0;
}

function requestOf(input: CommandInput, now: number): InputOf<"showSession"> {
  const [session = ""] = input.arguments;
  const only = input.texts("only").flatMap((given) =>
    given
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean),
  );
  const when = input.text("since");
  const turn = input.number("turn");
  const last = input.number("last");
  return {
    session,
    errors: input.flag("errors"),
    ...(only.length === 0 ? {} : { only: only.map(kindIn) }),
    ...(turn === undefined ? {} : { turn }),
    ...(last === undefined ? {} : { last }),
    ...(when === undefined ? {} : sinceIn(when, now)),
  };
}

function kindIn(word: string): StoryKind {
  const kind = STORY_KINDS.find((one) => one === word);
  if (kind !== undefined) return kind;
  throw usage(
    "bad-value",
    `--only takes ${STORY_KINDS.join(", ")}, not "${word}"; ${didYouMean(word, STORY_KINDS) ?? "separate several by commas"}.`,
  );
}

function sinceIn(when: string, now: number): { readonly since: string } | { readonly from: string } {
  if (parseCursor(when) !== null) return { since: when };
  const ms = durationMs(when);
  if (ms !== null) return { from: new Date(now - ms).toISOString() };
  const at = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/.test(when) ? Date.parse(when) : Number.NaN;
  if (!Number.isNaN(at)) return { from: new Date(at).toISOString() };
  throw usage("bad-time", `--since needs a time, such as 30m, 2h, 2026-11-18T09:00 or a cursor, not "${when}".`);
}

async function drawEntries(entries: Page["entries"], { output }: CliContext): Promise<void> {
  const { storyText } = await import("../story-text.ts");
  const { hasColour, isTerminal, width } = output;
  output.print(await storyText(entries, { hasColour, now: new Date(), width: isTerminal ? width : null }));
}

async function draw(page: Page, context: CliContext): Promise<void> {
  const { output } = context;
  await drawEntries(page.entries, context);
  if (page.entries.length === 0) output.note("Nothing of that kind happened.");
}

function tellRest({ gaps, cursor, imported }: Page, { output }: CliContext): void {
  const quiet = (text: string): string => (output.hasColour ? paint("quiet", text) : text);
  for (const gap of gaps) output.note(quiet(oneLine(gap)));
  if (imported === null) output.note(quiet(`For what comes next: --since ${cursor}.`));
}
