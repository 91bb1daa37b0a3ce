/**
 * Defines how much each source counts
 * (docs/decisions/0017-whose-word-counts.md).
 *
 * - A witness saw what happened: the agent itself, by its protocol, its hooks
 *   or its transcript. Its report counts at once, and of several reports the
 *   newest counts: each adapter takes a fact from the source that knows it, and
 *   no witness outranks another.
 * - An onlooker shows a state, not what happened: a status file, then the
 *   screen and the title. It counts at once if no better source has reported
 *   anything. Against a better source it counts only if it stays, or not at all
 *   (weigh-soft.ts).
 * - Reeve itself comes last: its conclusions give way to every other source.
 */
import type { Evidence } from "./session.ts";

type Source = Evidence["source"];

export const STANDING = {
  protocol: 1,
  hook: 1,
  transcript: 1,
  status: 2,
  screen: 3,
  operator: 4,
  session: 4,
  runtime: 4,
  supervisor: 4,
} as const satisfies Record<Source, number>;

export function isWitness(source: Source): boolean {
  return STANDING[source] === 1;
}

export function outranks(one: Source, other: Source): boolean {
  return STANDING[one] < STANDING[other];
}

/** A spinner turns also when nothing happens any more. */
export function isSignOfLife(source: Source): boolean {
  return STANDING[source] < STANDING.screen;
}
