/**
 * The one line by which Reeve wakes a session. It says up to where it speaks
 * and how many events it is about, and where the truth is. It repeats nothing
 * that an agent wrote: only names, which are checked, and Reeve's own words.
 */
import type { WakeReason } from "../session/wake.ts";
import type { DueEvent } from "./due-wake.ts";

export interface WakeLine {
  readonly since: number;
  readonly through: number;
  readonly due: readonly DueEvent[];
}

/** A line is read at a glance; the log has the rest. */
const MOST_NAMED = 3;

export function wakeLine({ since, through, due }: WakeLine): string {
  const named = mostUrgent(due).slice(0, MOST_NAMED);
  const more = due.length - named.length;
  const what = named.map(({ name, reason }) => `${name} ${reason}`).join(", ");
  const events = `${due.length} ${due.length === 1 ? "event" : "events"} for you since ${since}`;
  const rest = more === 0 ? "" : ` (+${more} more)`;
  return `[reeve] wake ${through}: ${events}: ${what}${rest}. Not from your user. Truth: reeve list, reeve events --since ${since}, or the tool wait_for_session.`;
}

/** The first that an orchestrator should look at. */
const URGENCY = [
  "exited",
  "awaiting-approval",
  "awaiting-input",
  "turn-failed",
  "stalled",
  "turn-interrupted",
  "turn-completed",
] as const satisfies readonly WakeReason[];

/** Of each session what happened last, the most urgent first. */
function mostUrgent(due: readonly DueEvent[]): readonly DueEvent[] {
  const last = new Map(due.map((event) => [event.sessionId, event]));
  return [...last.values()].toSorted(
    (one, other) => URGENCY.indexOf(one.reason) - URGENCY.indexOf(other.reason) || one.seq - other.seq,
  );
}
