/** The lines that a plain command received, in their order. */
import type { Arrival } from "./history.ts";

export function linesArrived(text: string): readonly Arrival[] {
  const lines = text
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "");
  return [...new Set(lines)].map((line) => ({
    text: line,
    at: lines.indexOf(line),
    times: lines.filter((other) => other === line).length,
  }));
}
