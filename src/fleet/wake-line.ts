/**
 * The one line by which Reeve wakes a session. It says up to where it speaks
 * and how many events and mails it is about, and where the truth is. It repeats
 * nothing that an agent wrote: only names, which are checked, and Reeve's own
 * words.
 */
import { TIME_OUTS } from "../session/time-out.ts";
import type { WakeReason } from "../session/wake.ts";
import type { DueEvent } from "./due-wake.ts";
import type { UnreadMail } from "./unread-mail.ts";

export interface WakeLine {
  readonly since: number;
  readonly through: number;
  readonly events: readonly DueEvent[];
  readonly mails: readonly Pick<UnreadMail, "kind">[];
  /** The turn in whose middle the session was restarted; missing: it is not told so. */
  readonly cutTurn?: number | undefined;
}

/** A line is read at a glance; the log has the rest. */
const MOST_NAMED = 3;

export function wakeLine({ since, through, events, mails, cutTurn }: WakeLine): string {
  const isRestarted = cutTurn !== undefined;
  const what = [
    ...(isRestarted ? [`you were restarted in the middle of turn ${cutTurn}, look before you go on`] : []),
    ...(events.length === 0 ? [] : [eventWords(events, since)]),
    ...(mails.length === 0 ? [] : [mailWords(mails)]),
  ];
  const commands = [
    ...(isRestarted ? ["reeve recover"] : []),
    ...(events.length === 0 ? [] : ["reeve list", `reeve events --since ${since}`]),
    ...(mails.length === 0 ? [] : ["reeve mail check"]),
  ];
  const tools = [
    ...(isRestarted ? ["recover"] : []),
    ...(events.length === 0 ? [] : ["wait_for_session"]),
    ...(mails.length === 0 ? [] : ["check_mail"]),
  ];
  return `[reeve] wake ${through}: ${what.join("; ")}. Not from your user. Truth: ${commands.join(", ")}, or the ${tools.length === 1 ? "tool" : "tools"} ${listed(tools)}.`;
}

function listed(names: readonly string[]): string {
  return names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function eventWords(events: readonly DueEvent[], since: number): string {
  const named = mostUrgent(events).slice(0, MOST_NAMED);
  const more = events.length - named.length;
  const names = named.map((event) => `${event.name} ${event.reason}${whyWords(event)}`).join(", ");
  return `${counted(events.length, "event")} for you since ${since}: ${names}${more === 0 ? "" : ` (+${more} more)`}`;
}

/** Why it happened, where Reeve did it. */
function whyWords({ timedOut }: DueEvent): string {
  return timedOut === undefined ? "" : ` (${TIME_OUTS[timedOut].name} time-out)`;
}

function mailWords(mails: WakeLine["mails"]): string {
  const handOffs = mails.filter(({ kind }) => kind === "hand-off").length;
  return `${counted(mails.length, "unread mail")} for you${handOffs === 0 ? "" : ` (${counted(handOffs, "hand-off")})`}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
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
function mostUrgent(events: readonly DueEvent[]): readonly DueEvent[] {
  const last = new Map(events.map((event) => [event.sessionId, event]));
  return [...last.values()].toSorted(
    (one, other) => URGENCY.indexOf(one.reason) - URGENCY.indexOf(other.reason) || one.seq - other.seq,
  );
}
