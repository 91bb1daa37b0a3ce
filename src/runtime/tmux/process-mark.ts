/** The mark in the environment of a process. Only this mark makes a process ours. */
import { isAlive, ownerOf, readEnvironmentVariable } from "../../platform/process-table.ts";
import type { NamedProcess } from "../../session/session.ts";
import { MARK_VARIABLE } from "../contract.ts";

/** Only of our own user: as root every environment could be read, other people's included. */
export function markOf(pid: number): string | null {
  const mark = readEnvironmentVariable(pid, MARK_VARIABLE);
  return mark !== null && ownerOf(pid) === process.getuid?.() ? mark : null;
}

/** Alive, and carries exactly this mark. */
export function isMarked({ pid, startTicks }: NamedProcess, mark: string): boolean {
  return isAlive(pid, startTicks) && markOf(pid) === mark;
}
