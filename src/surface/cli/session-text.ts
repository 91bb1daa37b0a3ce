/** Sessions as text. What a program wrote was made safe by the daemon, and is made safe again here. */
import type { SessionView } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { BETWEEN_PARTS, byNeed } from "../../session/need-order.ts";
import { branchText } from "./branch-text.ts";
import { paint } from "./paint.ts";
import type { Tone } from "./paint.ts";
import { duration, relativeTime } from "./relative-time.ts";
import { layOut } from "./table.ts";
import type { Cell, Column } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";
import type { Output } from "./output.ts";

/** From so many columns on, names and questions stay legible; the id, which people do not type, goes before that. */
const ROOMY = 72;

const columnsFor = (width: number | null): readonly Column[] => [
  { title: "NAME", least: width !== null && width < ROOMY ? 8 : 16 },
  { title: "ID", dropped: 5 },
  { title: "AGENT", dropped: 6 },
  { title: "PARENT", dropped: 7 },
  { title: "BRANCH", least: 10, dropped: 4 },
  { title: "STATE", dropped: 2 },
  { title: "WORK", least: 10, dropped: 4 },
  { title: "ACTIVITY" },
  { title: "SINCE", dropped: 3 },
  { title: "INFO", least: width !== null && width < ROOMY ? 16 : 24, dropped: 1 },
];

const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["PARENT", "BRANCH", "WORK"]);

const STATE_TONES = {
  planned: "quiet",
  starting: "notice",
  running: "good",
  paused: "notice",
  error: "bad",
  stopped: "quiet",
} as const satisfies Record<SessionView["state"], Tone>;

export async function sessionTable(
  sessions: readonly SessionView[],
  output: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  const names = new Map(sessions.map(({ session_id: id, name }) => [id, name]));
  const parentOf = ({ parent_session_id: id }: SessionView): string => (id === null ? "" : (names.get(id) ?? id));
  const rows = sessions.toSorted(byNeed).map((session) => cells(session, parentOf(session), output.hasColour, now));
  const ruler = await rulerFor(rows.flatMap((row) => row.map((cell) => cell.text)));
  const columns = columnsFor(output.width);
  // Most people who look work outside of git, or all in one place, and without a queue: an empty column says nothing.
  const shown = [...columns.keys()].filter(
    (index) => !MAY_BE_EMPTY.has(columns[index]?.title ?? "") || rows.some((row) => row[index]?.text !== ""),
  );
  const only = <T>(all: readonly T[]): readonly T[] => all.filter((_, index) => shown.includes(index));
  return layOut(only(columns), rows.map(only), output.width, ruler);
}

function cells(session: SessionView, parent: string, hasColour: boolean, now: number): readonly Cell[] {
  const toned = (text: string, tone: Tone): Cell => (hasColour ? { text, paint: (cut) => paint(tone, cut) } : { text });
  return [
    { text: oneLine(session.name) },
    { text: session.session_id },
    { text: oneLine(session.agent) },
    { text: oneLine(parent) },
    branchCell(session, toned),
    toned(session.state, STATE_TONES[session.state]),
    { text: oneLine(session.work?.title ?? "") },
    activityCell(session, now, toned),
    { text: relativeTime(session.need_since, now) },
    { text: infoOf(session) },
  ];
}

function branchCell(session: SessionView, toned: (text: string, tone: Tone) => Cell): Cell {
  const text = oneLine(branchText(session));
  return session.branch.mismatch_since === null ? { text } : toned(text, "bad");
}

const NEED_TONES: Partial<Record<SessionView["need"], Tone>> = { blocked: "notice", failed: "bad", finished: "good" };

function activityCell(session: SessionView, now: number, toned: (text: string, tone: Tone) => Cell): Cell {
  const tone = NEED_TONES[session.need];
  const text = activityOf(session, now);
  return tone === undefined ? { text } : toned(text, tone);
}

/** What a dead session was doing is nothing; a turn that hangs, or of which nothing is heard, is not work. */
function activityOf(session: SessionView, now: number): string {
  if (session.need === "finished" || session.need === "parked") return session.need;
  if (isDead(session)) return session.need === "failed" ? "died" : "-";
  if (isOffBranch(session)) return "wrong branch";
  if (session.need === "failed") return "turn failed";
  const { verdict, since_at: since } = session.health;
  if (isAsking(session) || (verdict !== "stalled" && verdict !== "hung")) return ownActivity(session);
  return `${verdict} ${duration(Math.max(0, now - Date.parse(since)))}`;
}

/** A program without turns tells nothing of what it does; as long as it runs it is at work. */
function ownActivity({ activity, need, watched_by: by }: SessionView): string {
  return activity === "unknown" && by === "process" ? need : activity;
}

/** That is what it needs somebody for. */
function isOffBranch({ branch, need }: SessionView): boolean {
  return branch.mismatch_since !== null && (need === "failed" || (need === "blocked" && branch.policy !== "warn"));
}

function isDead({ liveness, state }: SessionView): boolean {
  return liveness === "exited" || liveness === "absent" || state === "stopped";
}

function isAsking({ activity }: SessionView): boolean {
  return activity === "awaiting-approval" || activity === "awaiting-input";
}

/**
 * The one line that matters, as the daemon tells it, and what the agent left running. While its turn is held open by
 * work in the background, that work is what matters: what it said before is not its last word.
 */
export function infoOf(session: SessionView): string {
  const left = session.background.length > 0 ? oneLine(backgroundOf(session.background)) : "";
  const isHeld = session.turn_open && session.background.some((task) => task.holds_turn);
  const headline = isHeld && !isAsking(session) ? "" : oneLine(session.headline);
  if (headline !== "" && isAsking(session)) return `${headline}${othersOf(session)}`;
  if (headline === "" && left === "" && session.observability.status === "lost")
    return oneLine(session.observability.reason);
  const held = session.held === null ? "" : `Held: ${oneLine(session.held.reason)}`;
  return [headline, left, held].filter((part) => part !== "").join(BETWEEN_PARTS);
}

/** What the agent left working, or merely running. */
function backgroundOf(background: SessionView["background"]): string {
  const named = (tasks: SessionView["background"]): string =>
    tasks.map(({ kind, title }) => (kind === "subagent" ? `subagent: ${title}` : title)).join("; ");
  const [works, runs] = [background.filter((task) => task.holds_turn), background.filter((task) => !task.holds_turn)];
  if (works.length > 0) return `In the background: ${named(works)}`;
  return `Left running in the background: ${named(runs)}`;
}

function othersOf({ approvals }: SessionView): string {
  return approvals > 1 ? ` (and ${approvals - 1} more)` : "";
}

/** For commands that changed something: what it is now, and how that is known where the reason does not say it. */
export function stateSentence(session: SessionView): string {
  const reason = oneLine(session.reason);
  const evidence = oneLine(session.evidence.detail);
  // "process 4711 (%3)": where it is, in the words of its runtime, is for reeve explain.
  const isTold = reason.includes(evidence.replace(/ \(%\d+\)$/, ""));
  return `${oneLine(session.name)} is ${session.state}. ${reason}${isTold ? "" : ` (${evidence})`}`;
}

export function oneLine(text: string): string {
  return stripTerminal(text).replace(/\s+/g, " ").trim();
}
