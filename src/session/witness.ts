/**
 * Who saw what happened: the agent itself, which tells of it by its protocol,
 * its hooks or its transcript. Everybody else looks on from outside (a screen,
 * a status file, the clock) and infers.
 */
import type { Evidence } from "./session.ts";

const WITNESSES: ReadonlySet<Evidence["source"]> = new Set(["protocol", "hook", "transcript"]);

export function isWitness(source: Evidence["source"]): boolean {
  return WITNESSES.has(source);
}
