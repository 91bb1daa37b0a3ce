/** For tests only: a session led through inputs. */
import { amend, type Amendment } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import type { Reading } from "./reading.ts";
import type { Session } from "./session.ts";
import { context, evidence, place, plannedSession, shown } from "./session-fixture.ts";
import { transition } from "./transition.ts";

/** Applies inputs in order; refused ones change nothing. */
export function run(session: Session, ...inputs: readonly Input[]): { session: Session; events: SessionEvent[] } {
  const events: SessionEvent[] = [];
  let current = session;
  for (const input of inputs) {
    const outcome = transition(current, input, context);
    if (outcome.refused !== null) continue;
    current = outcome.session;
    events.push(...outcome.events);
  }
  return { session: current, events };
}

export const types = (events: readonly SessionEvent[]): readonly string[] => events.map((event) => event.type);

export const created: Input = { type: "created", incarnation: 1, place, shown, evidence };

export function exitedWith(code: number): Input {
  return { type: "found-exited", incarnation: 1, code, signal: null, evidence };
}

export function read(reading: Partial<Reading>): Input {
  return { type: "read", incarnation: 1, reading: { source: "hook", detail: "a hook", ...reading } };
}

export function runningSession(changes: Amendment = {}): Session {
  return amend(run(plannedSession(), created).session, changes);
}
