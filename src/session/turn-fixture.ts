/** For tests only: what sources tell of turns, and what comes of it. */
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import type { TurnReading } from "./reading.ts";
import { read, run, runningSession } from "./run-inputs.ts";
import type { Evidence } from "./session.ts";

export type Source = Evidence["source"];

export const told = (source: Source, turn: TurnReading): Input => read({ source, turn });
export const started = (source: Source, id?: string): Input =>
  told(source, { phase: "started", ...(id === undefined ? {} : { id }) });
export const completed = (source: Source, id?: string): Input =>
  told(source, { phase: "completed", ...(id === undefined ? {} : { id }) });

export const turnsOf = (events: readonly SessionEvent[]): readonly string[] =>
  events.flatMap((event) => ("turn" in event ? [`${event.type} ${event.turn}`] : []));

/** What was logged about turns, and how many were counted. */
export function tell(...inputs: readonly Input[]) {
  const { session, events } = run(runningSession(), ...inputs);
  return { turns: session.conversation.turns, isOpen: session.conversation.turnOpen, events: turnsOf(events) };
}

export const once = { turns: 1, isOpen: false, events: ["turn-started 1", "turn-completed 1"] };
