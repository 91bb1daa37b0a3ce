/** Agents that Reeve did not start, in words. */
import type { OutputOf } from "../../client/operation-types.ts";
import type { Output } from "./output.ts";
import { oneLine } from "./session-text.ts";
import { layOut } from "./table.ts";
import type { Column } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";

export type ForeignView = OutputOf<"listForeign">["foreign"][number];

const COLUMNS: readonly Column[] = [
  { title: "AGENT" },
  { title: "ACTIVITY", dropped: 1 },
  { title: "HELD BY", dropped: 2 },
  { title: "DIRECTORY", least: 12, dropped: 3 },
  { title: "INFO", least: 16 },
];

export async function foreignTable(foreign: readonly ForeignView[], output: Pick<Output, "width">): Promise<string> {
  const rows = foreign.map((one) =>
    [
      oneLine(one.agent),
      one.activity,
      one.held_by === "daemon" ? "its daemon" : `process ${one.pid ?? "?"}`,
      oneLine(one.cwd ?? "-"),
      oneLine(one.asks ?? one.evidence),
    ].map((text) => ({ text })),
  );
  const ruler = await rulerFor(rows.flatMap((row) => row.map(({ text }) => text)));
  const advice = foreign.map((one) => oneLine(one.advice));
  return `${layOut(COLUMNS, rows, output.width, ruler)}\n${advice.map((line, index) => `${index + 1}. ${line}\n`).join("")}`;
}
