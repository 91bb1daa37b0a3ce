/** What was checked, one line each, with what to do about it. */
import type { OutputOf } from "../../client/operation-types.ts";
import type { Output } from "./output.ts";
import { paint } from "./paint.ts";
import type { Tone } from "./paint.ts";
import { oneLine } from "./session-text.ts";
import { rulerFor } from "./text-ruler.ts";
import { wrapped } from "./wrap.ts";

type Diagnosis = OutputOf<"diagnose">;
type Status = Diagnosis["checks"][number]["status"];

const TONES = { ok: "good", missing: "quiet", warning: "notice", problem: "bad" } as const satisfies Record<
  Status,
  Tone
>;
const STATUS_WIDTH = "problem".length;
const GAP = "  ";

export async function diagnosisText(
  { healthy, checks }: Diagnosis,
  output: Pick<Output, "width" | "hasColour">,
): Promise<string> {
  const ruler = await rulerFor([JSON.stringify(checks)]);
  const names = checks.map(({ what }) => oneLine(what));
  const nameWidth = Math.max(0, ...names.map((name) => ruler.width(name)));
  const next = `${" ".repeat(STATUS_WIDTH)}${GAP}${" ".repeat(nameWidth)}${GAP}`;
  const lines = checks.map(({ status, detail, advice }, index) => {
    const name = names[index] ?? "";
    const word = output.hasColour ? paint(TONES[status], status) : status;
    const first = `${word}${" ".repeat(STATUS_WIDTH - status.length)}${GAP}${name}${" ".repeat(nameWidth - ruler.width(name))}${GAP}`;
    const todo = advice === null ? "" : oneLine(advice);
    const said = wrapped(oneLine(detail), { first, next }, output.width, ruler);
    return todo === "" ? said : said + wrapped(todo, { first: next, next }, output.width, ruler);
  });
  return `${lines.join("")}\n${verdict(healthy, checks)}\n`;
}

/** An agent that is not installed, or not logged in, is nobody's fault; but it is said. */
function verdict(isHealthy: boolean, checks: Diagnosis["checks"]): string {
  const problems = checks.filter(({ status }) => status === "problem").length;
  const named = (sentence: string, isMeant: (check: Diagnosis["checks"][number]) => boolean): string => {
    const names = checks.filter(isMeant).map(({ what }) => oneLine(what));
    return names.length === 0 ? "" : ` ${sentence}: ${names.join(", ")}.`;
  };
  const notes =
    named("Not logged in", ({ login }) => login === "logged-out") +
    named("Not installed", ({ status }) => status === "missing");
  if (!isHealthy) return `There ${problems === 1 ? "is 1 problem" : `are ${problems} problems`}.${notes}`;
  const isQuiet = checks.every(({ status }) => status !== "warning");
  return `${isQuiet ? "All is well." : "Reeve works here."}${notes}`;
}
