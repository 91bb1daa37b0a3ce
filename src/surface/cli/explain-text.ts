/** Why Reeve says what it says of a session, as a page: each claim with its evidence, then who said what. */
import type { OutputOf } from "../../client/operation-types.ts";
import { callerText } from "./caller-text.ts";
import type { Output } from "./output.ts";
import { paint } from "./paint.ts";
import type { Tone } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { layOut } from "./table.ts";
import type { Column } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";
import { wrapped } from "./wrap.ts";

type Explanation = OutputOf<"explainSession">;
type Claim = Explanation["liveness"];

const SOURCES: readonly Column[] = [
  { title: "SOURCE" },
  { title: "SAID" },
  { title: "DETAIL", least: 16, dropped: 1 },
  { title: "AGE", dropped: 2 },
  { title: "WEIGHT", least: 16 },
];

const DISPUTES: readonly Column[] = [
  { title: "TURN" },
  { title: "COUNTED" },
  { title: "AGAINST" },
  { title: "DETAIL", least: 16, dropped: 1 },
];

const INDENT = { first: "  ", next: "  " };
const DEEPER = { first: "    ", next: "    " };

function messageSentence({ message_id: id, state, detail, sent_by: by }: Explanation["messages"][number]): string {
  const sender = by === null ? "" : `, sent by ${callerText(by)},`;
  return `${id}${sender} is ${state === "leased" ? "being typed" : "recorded"}.${detail === null ? "" : ` ${detail}`}`;
}

/** Who is woken for it, and what it is woken for itself. */
function wakeSentences({
  notifications,
  acknowledged,
  waiting,
  message_id: id,
}: Explanation["wakes"]): readonly string[] {
  const { to, armed, why } = notifications;
  const isOwn = acknowledged > 0 || waiting > 0;
  return [
    ...(to === null ? [] : [armed.length === 0 ? why : `${why} For: ${armed.join(", ")}.`]),
    ...(isOwn
      ? [`It has been told of the sessions that it started up to ${acknowledged}; ${waiting} events and mails wait.`]
      : []),
    ...(id === null ? [] : [`The wake ${id} is on its way to it.`]),
  ];
}

/** Who asked for what it is. */
function askedSentences({ session }: Explanation, now: number): readonly string[] {
  const { started_by: starter, last_command: last } = session;
  return [
    ...(starter === null ? [] : [`Started by ${callerText(starter)}.`]),
    ...(last === null
      ? []
      : [`Last asked for: ${last.command}, by ${callerText(last.by)} (${relativeTime(last.at, now)}).`]),
  ];
}

export async function explanationText(
  explained: Explanation,
  output: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  const { session, mode, channel, turn, messages, wakes, sources, disputes } = explained;
  const ruler = await rulerFor([JSON.stringify(explained)]);
  const toned = (tone: Tone, text: string): string => (output.hasColour ? paint(tone, text) : text);
  const section = (title: string, ...sentences: readonly string[]): string =>
    [
      `${toned("strong", title)}\n`,
      ...sentences.map((text) => wrapped(oneLine(text), INDENT, output.width, ruler)),
    ].join("");
  const claim = (title: string, { because, evidence }: Claim): string => {
    const known =
      evidence === null ? [] : [`${evidence.source}: ${evidence.detail} (${relativeTime(evidence.at, now)})`];
    return section(oneLine(title), because, ...known);
  };
  const table = (columns: readonly Column[], rows: readonly (readonly string[])[]): string =>
    layOut(
      columns,
      rows.map((row) => row.map((text) => ({ text: oneLine(text) }))),
      output.width,
      ruler,
    );
  const spoken = (): string => {
    const cells = sources.map(({ source, said, detail, at, weight }) => [
      source,
      said ?? "-",
      detail,
      relativeTime(at, now),
      weight,
    ]);
    const [head = "", ...lines] = table(SOURCES, cells).trimEnd().split("\n");
    // Why a word did not count is what somebody came for: what was cut stands below.
    const whole = lines.map((line, index) => {
      const weight = oneLine(sources[index]?.weight ?? "");
      return line.endsWith(weight) ? `${line}\n` : `${line}\n${wrapped(weight, DEEPER, output.width, ruler)}`;
    });
    return [`${head}\n`, ...whole].join("");
  };
  const disputed = disputes.map(({ turn: number, counted, other, detail }) => [String(number), counted, other, detail]);
  return [
    section(
      `${oneLine(session.name)} (${session.session_id})`,
      `${session.agent}${mode.version === null ? "" : ` ${mode.version}`}, watched by ${mode.name}. ${mode.text}`,
      ...(channel === null ? [] : [`Its own protocol: ${channel}`]),
      ...askedSentences(explained, now),
    ),
    claim(`Process: ${explained.liveness.claim}`, explained.liveness),
    claim(`Transcript: ${explained.observability.claim}`, explained.observability),
    claim(`Activity: ${explained.activity.claim}`, explained.activity),
    // It names its turn itself: "turn 3: completed".
    ...(turn === null ? [] : [claim(turn.claim.replace(/^turn/, "Turn"), turn)]),
    ...(wakes.notifications.to === null && wakes.acknowledged === 0 && wakes.waiting === 0
      ? []
      : [section("Wakes", ...wakeSentences(wakes))]),
    ...(messages.length === 0 ? [] : [section("Messages", ...messages.map(messageSentence))]),
    sources.length === 0 ? section("Sources", "No source has reported anything since the daemon started.") : spoken(),
    ...(disputes.length === 0
      ? []
      : [section("Disputes", "Two sources reported the end of a turn differently.") + table(DISPUTES, disputed)]),
  ].join("\n");
}
