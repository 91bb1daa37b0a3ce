import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { pastTime } from "../past-time.ts";

export const searchCommand: CliCommand = {
  name: "search",
  summary: "search all transcripts, events and mail",
  arguments: [{ name: "text", isRepeated: true }],
  options: [
    { name: "session", value: "SESSION", summary: "only what belongs to this session", completion: "session" },
    { name: "agent", value: "AGENT", summary: "only sessions of this agent" },
    { name: "role", value: "ROLE", summary: "only sessions with this role" },
    {
      name: "kind",
      value: "KIND",
      summary: "only messages, calls of tools and their results, events, or mail",
      choices: ["message", "tool", "event", "mail"],
    },
    { name: "since", value: "WHEN", summary: "only what is newer: an age such as 2h or 7d, or a date" },
    { name: "until", value: "WHEN", summary: "only what is older than that" },
    { name: "limit", value: "N", type: "count", most: 200, summary: "at most so many; 20 by default" },
    { name: "page", value: "PAGE", summary: "go on where the answer before ended: its next_page" },
  ],
  notes: [
    'All words must be there, in any order and any case. "…" is a phrase, and word* finds words that begin so. Parts of names such as foo_bar or src/app.ts are found, too.',
    "The newest few hundred hits are ranked, the best first; --page goes on with older ones.",
    "Secrets are taken out before anything is put into the index. It is kept in search.db, in Reeve's home; if you delete it, Reeve builds it again.",
  ],
  examples: [
    { line: "reeve search connection refused", does: "both words, anywhere" },
    { line: `reeve search '"connection refused"' --since 2d`, does: "the phrase, in the last two days" },
    { line: "reeve search 'migrat*' --role builder --kind tool", does: "what builders did with tools" },
    { line: "reeve search turn-failed --kind event --json", does: "for a program, with exact places" },
  ],

  async run(input, context) {
    const now = Date.now();
    const [session, agent, role, page] = ["session", "agent", "role", "page"].map((name) => input.text(name));
    const kind = KINDS.find((known) => known === input.text("kind"));
    const limit = input.number("limit");
    const [since, until] = ["since", "until"].map((name) => pastTime(name, input.text(name), now));
    const found = await context.client().search({
      text: input.arguments.join(" "),
      ...(session === undefined ? {} : { session }),
      ...(agent === undefined ? {} : { agent }),
      ...(role === undefined ? {} : { role }),
      ...(kind === undefined ? {} : { kind }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(limit === undefined ? {} : { limit }),
      ...(page === undefined ? {} : { page }),
    });
    const { searchText } = await import("../search-text.ts");
    const shown = context.isJson ? "" : await searchText(found.found, context.output, now);
    answer(context, found, () => shown);
    if (context.isJson) return 0;
    if (found.found.length === 0) context.output.note("Nothing was found.");
    if (found.index.note !== null) context.output.note(found.index.note);
    if (found.next_page !== null) context.output.note(`There may be more: add --page ${found.next_page}`);
    return 0;
  },
};

const KINDS = ["message", "tool", "event", "mail"] as const;
