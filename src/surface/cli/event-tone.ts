/** The colour of an event in a list. */
import type { EventView } from "../../client/operation-types.ts";
import { textIn } from "../../session/text-in.ts";
import type { Tone } from "./paint.ts";

/** How it is coloured; null: not at all. */
export function eventTone({ type, data }: EventView): Tone | null {
  // Nobody misses it: it is told later, or was not needed any more.
  const code = textIn(data["reason"], "code");
  if (["wake-withdrawn", "resume-withdrawn", "message-cancelled"].includes(code ?? "")) return "quiet";
  if (/-(?:failed|errored|exited|died|lost|abandoned|refused|unknown|mismatched)$/.test(type)) return "bad";
  if (type === "health-changed") return textIn(data["health"], "verdict") === "hung" ? "notice" : "quiet";
  if (["approval-requested", "session-stalled", "timed-out", "hold-ending"].includes(type)) return "notice";
  if (["persistence-warned", "capture-interrupted", "quota-parked", "quota-warned"].includes(type)) return "notice";
  if (type === "activity-changed") return textIn(data["activity"], "asks") === null ? null : "notice";
  if (type === "turn-completed" || type === "session-running") return "good";
  return /^(?:observability|liveness|conversation|session-(?:cleared|seen|planned))/.test(type) ? "quiet" : null;
}
