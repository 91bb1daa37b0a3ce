/** Items of work as people read them: the queue as a table, one item as a page. What others wrote begins with a bar. */
import type { OutputOf } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { callerText } from "../../session/caller-text.ts";
import type { Output } from "./output.ts";
import { paint } from "./paint.ts";
import type { Tone } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { type Cell, type Column, layOut } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";

type Listed = OutputOf<"listWork">;
export type Work = Listed["items"][number];
type WholeWork = OutputOf<"getWork">;

const COLUMNS: readonly Column[] = [
  { title: "WORK" },
  { title: "STATE" },
  { title: "PRIORITY", dropped: 4 },
  { title: "FOR", least: 8, dropped: 3 },
  { title: "WORKER", least: 8, dropped: 1 },
  { title: "CHANGED", dropped: 2 },
  { title: "TITLE", least: 24 },
];

const STATE_TONES: Readonly<Record<Work["state"], Tone>> = {
  pending: "quiet",
  "in-progress": "notice",
  built: "notice",
  "changes-requested": "notice",
  approved: "good",
  finalised: "good",
  done: "good",
  failed: "bad",
  cancelled: "quiet",
};

export async function workTable(
  items: readonly Work[],
  output: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  const rows = items.map((item): readonly Cell[] => [
    { text: item.work_id },
    { text: stateText(item), ...(output.hasColour ? { paint: (cut) => paint(STATE_TONES[item.state], cut) } : {}) },
    { text: item.priority === 0 ? "" : String(item.priority) },
    { text: oneLine([item.agent, item.role].filter((one) => one !== null).join(", ")) },
    { text: oneLine(item.worker?.name ?? "") },
    { text: relativeTime(item.changed_at, now) },
    { text: oneLine(item.title) },
  ]);
  const ruler = await rulerFor(rows.flatMap((row) => row.map(({ text }) => text)));
  // A column in which nothing stands says nothing.
  const shown = [...COLUMNS.keys()].filter((index) => rows.some((row) => row[index]?.text !== ""));
  const only = <T>(all: readonly T[]): readonly T[] => all.filter((_, index) => shown.includes(index));
  return layOut(only(COLUMNS), rows.map(only), output.width, ruler);
}

function stateText({ state, waits_for: waits }: Work): string {
  return state === "pending" && waits.length > 0 ? `waits for ${waits.length}` : state;
}

/** What is below the table. */
export function workFooter({ items, open, next_page: next }: Listed): readonly string[] {
  const more = next === null ? [] : [`There may be more: repeat the command with --page ${next}`];
  return [`${items.length} shown, ${open} open.`, ...more];
}

/** After a change: what it is now. */
export function changedSentence({ work_id: id, state, why }: Work): string {
  if (state !== "failed") return `${id} is ${state}.`;
  const because = why === null ? "" : `: ${oneLine(why)}`;
  return `${id} has failed${because}`.replace(/[^.!?]$/, "$&.");
}

export function addedSentence({ work_id: id, title, waits_for: waits }: Work, reeve: string): string {
  const after = waits.length === 0 ? "" : ` It waits for ${waits.join(", ")}.`;
  return `Added ${id}: ${oneLine(title)}.${after} Give it to a session with: ${reeve} start AGENT --work ${id}`;
}

export function workText(work: WholeWork, output: Pick<Output, "hasColour">, now: number): string {
  const toned = (tone: Tone, text: string): string => (output.hasColour ? paint(tone, text) : text);
  const line = (name: string, value: string | null): readonly string[] =>
    value === null || value === "" ? [] : [`${toned("quiet", name.padEnd(9))} ${value}`];
  const block = (name: string, text: string): readonly string[] => {
    const written = stripTerminal(text).trimEnd();
    if (written === "") return [];
    return ["", toned("strong", name), ...written.split("\n").map((one) => `${toned("quiet", "|")} ${one}`)];
  };
  const { result, reviewed, verification, worker } = work;
  const ago = (at: string): string => relativeTime(at, now);
  return `${[
    `${toned("strong", oneLine(work.title))} (${work.work_id})`,
    ...line("State", stateLine(work)),
    ...line("Priority", String(work.priority)),
    ...line("Worker", worker === null ? null : `${oneLine(worker.name)} (${worker.session_id}), ${ago(worker.since)}`),
    ...line("Agent", work.agent),
    ...line("Role", work.role),
    ...line("Branch", work.branch === null ? null : oneLine(work.branch)),
    ...line("Directory", work.cwd === null ? null : oneLine(work.cwd)),
    ...line(
      "After",
      work.dependencies.map((id) => `${id}${work.waits_for.includes(id) ? " (not done)" : ""}`).join(", "),
    ),
    ...line("Review", work.review),
    ...line("Verify", work.verify === null ? null : commandText(work.verify)),
    ...line("Attempts", attemptsText(work)),
    ...line("Sessions", work.sessions.join(", ")),
    ...line("Commits", work.commits.map((commit) => commit.slice(0, 12)).join(", ")),
    ...line("Added", `${ago(work.created_at)}, by ${callerText(work.created_by)}`),
    "",
    oneLine(work.note),
    ...block("What to do", work.body),
    ...(result === null ? [] : block(`Result (${ago(result.at)}, by ${callerText(result.by)})`, result.text)),
    ...(verification === null
      ? []
      : block(`Verification: ${exitText(verification.exit_code)} (${ago(verification.at)})`, verification.text || "-")),
    ...(reviewed === null
      ? []
      : block(
          `Review: ${reviewed.verdict} (${ago(reviewed.at)}, by ${callerText(reviewed.by)})`,
          reviewed.text || "-",
        )),
  ].join("\n")}\n`;
}

function stateLine({ state, why, waits_for: waits, changed_at: _changed }: WholeWork): string {
  const waiting = state === "pending" && waits.length > 0 ? `, waits for ${waits.join(", ")}` : "";
  return `${state}${waiting}${why === null ? "" : `: ${oneLine(why)}`}`;
}

function attemptsText({ failures, retry_limit: retries, rounds }: WholeWork): string {
  const sentBack = rounds === 0 ? "" : `; sent back ${rounds} ${rounds === 1 ? "time" : "times"}`;
  return `${failures} of ${retries + 1} failed${sentBack}`;
}

function commandText(argv: readonly string[]): string {
  const [shell, flag, script] = argv;
  return oneLine(argv.length === 3 && shell === "sh" && flag === "-c" ? (script ?? "") : argv.join(" "));
}

function exitText(code: number | null): string {
  return code === null ? "did not end by itself" : `exit code ${code}`;
}
