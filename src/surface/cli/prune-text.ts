/** What was removed, or would be, and what stays and why, in words. */
import type { OutputOf } from "../../client/operation-types.ts";
import type { Output } from "./output.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { type Column, layOut } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";

type Pruned = OutputOf<"prune">;

const WHY = { age: "its age", count: "their number", size: "the size of all" } as const;

const GOING: readonly Column[] = [
  { title: "SESSION", least: 12 },
  { title: "ROLE", least: 6, dropped: 2 },
  { title: "ENDED" },
  { title: "SIZE", dropped: 1 },
  { title: "BECAUSE OF", dropped: 3 },
];

const STAYING: readonly Column[] = [
  { title: "STAYS", least: 12 },
  { title: "ENDED", dropped: 1 },
  { title: "WHY", least: 40 },
];

export async function pruneText(pruned: Pruned, output: Pick<Output, "width">, now: number): Promise<string> {
  const going = pruned.sessions.map((one) => [
    oneLine(one.name),
    oneLine(one.role),
    relativeTime(one.ended_at, now),
    bytesText(one.bytes),
    WHY[one.why],
  ]);
  const staying = pruned.kept.map((one) => [oneLine(one.name), relativeTime(one.ended_at, now), oneLine(one.why)]);
  const table = async (columns: readonly Column[], rows: readonly (readonly string[])[]): Promise<string> => {
    const cells = rows.map((row) => row.map((text) => ({ text })));
    return rows.length === 0 ? "" : `${layOut(columns, cells, output.width, await rulerFor(rows.flat()))}\n`;
  };
  const more = (shown: number, all: number): string => (shown < all ? `(${all - shown} more)\n\n` : "");
  return [
    await table(GOING, going),
    more(pruned.sessions.length, pruned.session_count),
    await table(STAYING, staying),
    more(pruned.kept.length, pruned.kept_count),
    summaryOf(pruned),
  ].join("");
}

export function summaryOf(pruned: Pruned): string {
  const what = [
    ...(pruned.session_count === 0
      ? []
      : [`${counted(pruned.session_count, "ended session")} (${bytesText(pruned.session_bytes)})`]),
    ...(pruned.events === 0 ? [] : [counted(pruned.events, "event")]),
    ...(pruned.mails === 0 ? [] : [counted(pruned.mails, "mail")]),
    ...(pruned.work_items === 0 ? [] : [counted(pruned.work_items, "work item")]),
  ];
  if (what.length === 0) return pruned.dry_run ? "Nothing would be removed.\n" : "There was nothing to remove.\n";
  const list = what.length === 1 ? what.join("") : `${what.slice(0, -1).join(", ")} and ${what.at(-1)}`;
  if (pruned.dry_run) return `Would remove ${list}. Nothing was changed.\n`;
  const smaller = pruned.compacted_bytes === 0 ? "" : ` The database is ${bytesText(pruned.compacted_bytes)} smaller.`;
  return `Removed ${list}.${smaller}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

const UNITS = [
  [1_048_576, "MB"],
  [1_024, "KB"],
] as const;

export function bytesText(bytes: number): string {
  const [size, unit] = UNITS.find(([least]) => bytes >= least) ?? [1, "bytes"];
  return `${size === 1 ? bytes : (bytes / size).toFixed(bytes / size < 10 ? 1 : 0)} ${unit}`;
}
