/** The inbox as people read it: a table, one item in full, and what came of an answer. */
import type { OutputOf } from "../../client/operation-types.ts";
import type { InboxAnswer } from "../../session/inbox-kind.ts";
import type { Output } from "./output.ts";
import { paint, type Tone } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { type Column, layOut } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";
import { wrapped } from "./wrap.ts";

export type Listed = OutputOf<"listInbox">;
export type InboxItemView = Listed["items"][number];

const COLUMNS: readonly Column[] = [
  { title: "NO" },
  { title: "NEED", dropped: 1 },
  { title: "SINCE", dropped: 2 },
  { title: "STATE", dropped: 3 },
  { title: "WHAT", least: 24 },
];

const TONES: Partial<Record<InboxItemView["urgency"], Tone>> = { blocked: "notice", failed: "bad", finished: "good" };

export async function inboxTable(
  { items }: Listed,
  output: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  // What is open needs no word for that.
  const hasStates = items.some(({ state }) => state !== "open");
  const columns = COLUMNS.filter(({ title }) => hasStates || title !== "STATE");
  const rows = items.map((item) => {
    const tone = item.state === "open" ? TONES[item.urgency] : "quiet";
    const cells = [
      { text: String(item.number) },
      {
        text: item.urgency,
        ...(tone === undefined || !output.hasColour ? {} : { paint: (text: string) => paint(tone, text) }),
      },
      { text: relativeTime(item.since, now) },
      ...(hasStates ? [{ text: stateText(item, now) }] : []),
      { text: oneLine(item.title) },
    ];
    return cells;
  });
  const ruler = await rulerFor(rows.flatMap((row) => row.map(({ text }) => text)));
  return layOut(columns, rows, output.width, ruler);
}

function stateText({ state, snoozed_until: until }: InboxItemView, now: number): string {
  return state === "snoozed" ? `back ${relativeTime(until, now)}` : state;
}

/** What is below the table. */
export function inboxFooter({ items, open }: Listed): readonly string[] {
  const first = items.find(({ state }) => state === "open");
  if (first === undefined) return [];
  const [answer] = first.answers;
  const example =
    answer === undefined ? "" : ` Answer it with: reeve inbox answer ${first.number} ${exampleOf(answer)}`;
  return [
    `${open === 1 ? "1 item waits" : `${open} items wait`} for you. See the first in full: reeve inbox next.${example}`,
  ];
}

/** One item, with everything that is known of it. `isAsked`: the answer is asked for below, so its commands are left out. */
export async function itemText(
  item: InboxItemView,
  output: Pick<Output, "width" | "hasColour">,
  now: number,
  isAsked = false,
): Promise<string> {
  const strong = (text: string): string => (output.hasColour ? paint("strong", text) : text);
  const quiet = (text: string): string => (output.hasColour ? paint("quiet", text) : text);
  const paragraphs = [
    ["What happened", item.happened],
    ["What Reeve did", item.reeve_did],
    ["What Reeve suggests", item.state === "closed" ? "" : item.suggestion],
    ["It is over", item.closed_why ?? ""],
  ].filter(([, text]) => text !== "");
  const ruler = await rulerFor(paragraphs.flat());
  const texts = paragraphs.map(([name = "", text = ""]) => {
    // An agent's text may have lines; each stays one.
    const lines = text.split("\n").map((line) => wrapped(line, { first: "  ", next: "  " }, output.width, ruler));
    return `${quiet(name)}\n${lines.join("")}`;
  });
  const head = `${strong(`${item.number}. ${oneLine(item.title)}`)}\n${quiet(`${item.urgency}, ${relativeTime(item.since, now)}${item.state === "open" ? "" : `; ${stateText(item, now)}`}`)}\n`;
  const answers =
    item.state === "closed" || isAsked
      ? []
      : item.answers.map((answer) => `  reeve inbox answer ${item.number} ${exampleOf(answer)}\n`);
  return [head, ...texts, answers.length === 0 ? "" : `${quiet("You can answer")}\n${answers.join("")}`]
    .filter((part) => part !== "")
    .join("\n");
}

/** How an answer is written on the command line. */
function exampleOf(answer: InboxAnswer): string {
  switch (answer) {
    case "reply":
    case "interrupt":
      return `${answer} "TEXT"`;
    case "acknowledge":
      return "ack";
    case "snooze":
      return "snooze 30m";
    default:
      return answer;
  }
}

const ANSWERED: Readonly<Record<InboxAnswer, string>> = {
  approve: "approved",
  deny: "denied",
  reply: "replied",
  interrupt: "interrupted",
  restart: "restarted",
  end: "ended",
  acknowledge: "acknowledged",
  snooze: "put off",
};

/** "3 approved: builder asks: rm -r build. It took effect (…)." */
export function answeredText({ done, item, note }: OutputOf<"answerInbox">, answer: InboxAnswer, now: number): string {
  const what = done ? ANSWERED[answer] : `not ${ANSWERED[answer]} yet`;
  const back = answer === "snooze" ? `, back ${relativeTime(item.snoozed_until, now)}` : "";
  const title = oneLine(item.title);
  return `${item.number} ${what}${back}: ${/[.!?]$/.test(title) ? title : `${title}.`}${note === null ? "" : ` ${oneLine(note)}`}`;
}
