/** The numbers of sessions as a table for people: what is not known is a "?", which is not 0. */
import type { OutputOf } from "../../client/operation-types.ts";
import type { Output } from "./output.ts";
import { paint } from "./paint.ts";
import { oneLine } from "./session-text.ts";
import { type Cell, type Column, layOut } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";

type Group = OutputOf<"getStats">["groups"][number];

const COLUMNS: readonly Column[] = [
  { title: "", least: 8 },
  { title: "SESSIONS", dropped: 2 },
  { title: "TURNS" },
  { title: "FAILED" },
  { title: "TURN P50/P99", dropped: 3 },
  { title: "IN" },
  { title: "CACHED", dropped: 5 },
  { title: "OUT" },
  { title: "COST", dropped: 1 },
  { title: "CALLS", dropped: 4 },
  { title: "CALL P50/P99", dropped: 4 },
];

const UNKNOWN = "?";

export async function statsTable(
  groups: readonly Group[],
  by: string,
  { width, hasColour }: Pick<Output, "width" | "hasColour">,
): Promise<string> {
  const columns = COLUMNS.map((column, at) => (at === 0 ? { ...column, title: by.toUpperCase() } : column));
  const quiet = (text: string): Cell =>
    text === UNKNOWN && hasColour ? { text, paint: (cut) => paint("quiet", cut) } : { text };
  const rows = groups.map((group) => [{ text: oneLine(group.name ?? group.group) }, ...cellsOf(group).map(quiet)]);
  return layOut(columns, rows, width, await rulerFor(rows.flatMap((row) => row.map(({ text }) => text))));
}

function cellsOf({ sessions, turns, tokens, calls, ...group }: Group): readonly string[] {
  const all = turns.completed + turns.failed + turns.interrupted;
  return [
    String(sessions),
    String(all),
    turns.error_rate === null ? UNKNOWN : percent(turns.error_rate),
    times(turns.duration_ms),
    tokens === null ? UNKNOWN : short(tokens.input),
    tokens === null ? UNKNOWN : short(tokens.cached_input),
    tokens === null ? UNKNOWN : short(tokens.output),
    group.cost_usd === null ? UNKNOWN : `${group.cost_is_partial ? "> " : ""}$${group.cost_usd.toFixed(2)}`,
    calls === null ? UNKNOWN : String(calls.count),
    calls === null ? UNKNOWN : times(calls.latency_ms),
  ];
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`;
}

function times(found: { readonly p50: number; readonly p99: number } | null): string {
  return found === null ? UNKNOWN : `${seconds(found.p50)}/${seconds(found.p99)}`;
}

function seconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)}m` : `${(ms / 3_600_000).toFixed(1)}h`;
}

function short(count: number): string {
  if (count < 10_000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
