/** The outcome of a wait as text, as an object and as an exit status. */
import type { OutputOf } from "../../client/operation-types.ts";
import { answer } from "./answer.ts";
import type { CliContext } from "./command.ts";
import { statusOfWait } from "./exit-codes.ts";
import { infoOf, oneLine } from "./session-text.ts";

export type Waited = OutputOf<"waitForSession">;

export function reportWait(context: CliContext, waited: Waited, mode: "any" | "all" = "any"): number {
  if (waited.reason === "timeout" && !context.isJson) context.output.note(timedOut(waited));
  answer(context, waited, () => wakeLines(waited));
  if (mode === "any" || waited.reason === "timeout") return statusOfWait(waited);
  return statusOfWait(waited.woken.find(({ ok }) => !ok) ?? { ok: true, reason: waited.reason });
}

export function timedOut({ cursor }: Waited): string {
  return `Nothing happened in time; to wait on from here: --since ${cursor}.`;
}

export function wakeLines(waited: Waited): string {
  return waited.woken.map((wake) => `${oneLine(wake.name)}: ${wake.reason}.${aboutWake(wake, waited)}\n`).join("");
}

function aboutWake({ session_id: id, why }: Waited["woken"][number], { session }: Waited): string {
  if (why !== null) return ` ${oneLine(why)}`;
  return id === session.session_id ? ` ${infoOf(session)}` : "";
}
