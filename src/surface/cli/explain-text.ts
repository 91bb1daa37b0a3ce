/** Why Reeve says what it says of a session, as a page: each claim with its evidence, then who said what. */
import type { OutputOf } from "../../client/operation-types.ts";
import { durationText } from "../../platform/duration.ts";
import { branchSentences } from "./branch-text.ts";
import { callerText } from "../../session/caller-text.ts";
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

/** On what it draws, and what it has to wait for. */
function quotaSentences({ account, parked }: Explanation["session"], now: number): readonly string[] {
  if (parked === null) return [`It draws on the account ${account}; no limit of that is known to be reached.`];
  const held = parked.waiting ? "" : " Nothing of this session waits yet.";
  return [
    `It draws on the account ${account}. ${parked.reason}${held}`,
    `${parked.source} reported that limit (${relativeTime(parked.since, now)}); ${CONFIDENCE[parked.confidence]}.`,
  ];
}

/** What may end or interrupt it, and what has passed of that; those that are off in one sentence. */
function timeOutSentences({ session, timeouts }: Explanation): readonly string[] {
  const on = timeouts.filter(({ after_seconds: after }) => after !== null);
  const off = timeouts.filter(({ after_seconds: after }) => after === null).map(({ which }) => which);
  const { held } = session;
  return [
    ...(held === null ? [] : [`Held until ${held.until} by ${callerText(held.by)}: ${held.reason}`]),
    ...on.map(
      ({ which, after_seconds: after, action, from, now }) =>
        `${which}: ${action} after ${durationText((after ?? 0) * 1_000)} (${TIME_OUT_FROM[from]}).${now === null ? "" : ` ${now}`}`,
    ),
    ...(off.length === 0 ? [] : [`Off: ${off.join(", ")}.`]),
  ];
}

/** What is kept of it, and what cannot be. */
function keptSentences({ session, unkept }: Explanation): readonly string[] {
  const { capture, debug_log: debugLog, switched_off: off } = session.persistence ?? NOTHING_KEPT;
  return [
    `Everything about it is kept in ${session.outputs_dir}. ${CAPTURED[capture]}`,
    ...off,
    ...(debugLog === null ? [] : [`Its debug log: ${debugLog}`]),
    ...unkept.map((problem) => `Not kept now: ${problem}`),
  ];
}

const NOTHING_KEPT = { capture: "none", debug_log: null, switched_off: [] } as const;

const CAPTURED = {
  native: "Its agent writes down the traffic with its model itself.",
  proxy: "The traffic with its model goes through a proxy of Reeve's.",
  none: "The traffic with its model is not captured: its agent offers no way to.",
} as const;

const TIME_OUT_FROM = {
  start: "chosen when it was started",
  role: "from config.toml for its role",
  agent: "from config.toml for its agent",
  settings: "from [timeouts] in config.toml",
  default: "default",
} as const;

const CONFIDENCE = {
  stated: "the vendor stated when it resets",
  derived: "when it resets was taken from a text",
  none: "nobody said when it resets, so Reeve tries again after a while",
} as const;

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
  const branches = branchSentences(session);
  const toned = (tone: Tone, text: string): string => (output.hasColour ? paint(tone, text) : text);
  const section = (title: string, ...sentences: readonly string[]): string =>
    [
      `${toned("strong", title)}\n`,
      ...sentences.map((text) => wrapped(oneLine(text), INDENT, output.width, ruler)),
    ].join("");
  const claim = (title: string, { because, evidence }: Claim, more: readonly string[] = []): string => {
    const known =
      evidence === null ? [] : [`${evidence.source}: ${evidence.detail} (${relativeTime(evidence.at, now)})`];
    return section(oneLine(title), because, ...known, ...more);
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
    ...(explained.paused === null ? [] : [section("Paused", session.reason, explained.paused)]),
    ...(session.work === null ? [] : [section("Work", `It works on ${session.work.work_id}: ${session.work.title}`)]),
    ...(branches.length === 0 ? [] : [section("Branch", ...branches)]),
    claim(`Process: ${explained.liveness.claim}`, explained.liveness),
    claim(`Transcript: ${explained.observability.claim}`, explained.observability),
    claim(`Activity: ${explained.activity.claim}`, explained.activity),
    claim(`Health: ${explained.health.claim}`, explained.health, explained.signs),
    // It names its turn itself: "turn 3: completed".
    ...(turn === null ? [] : [claim(turn.claim.replace(/^turn/, "Turn"), turn)]),
    ...(explained.timeouts.length === 0 ? [] : [section("Time-outs", ...timeOutSentences(explained))]),
    ...(session.account === null ? [] : [section("Usage limits", ...quotaSentences(session, now))]),
    ...(session.persistence === null ? [] : [section("Kept", ...keptSentences(explained))]),
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
