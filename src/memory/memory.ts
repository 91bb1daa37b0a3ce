/**
 * A memory: a text that an agent or the operator keeps for later, for one project
 * and one of its roles, or for all of them. It is never changed, only forgotten.
 */
import type { CallerName } from "../session/caller.ts";

/** prompt: what was asked. thought: what was considered. response: what was answered. note: everything else. */
export const MEMORY_KINDS = ["prompt", "thought", "response", "note"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** What is longer belongs into a file of the project, and its path into the memory. */
export const MOST_TEXT_BYTES = 65_536;
export const MOST_TAGS = 16;

export interface Memory {
  readonly id: string;
  /** A repository's common git directory, or a directory that is in none (project.ts). */
  readonly project: string;
  /** Null: for every role of the project. */
  readonly role: string | null;
  readonly kind: MemoryKind;
  readonly text: string;
  readonly tags: readonly string[];
  /** What it is about: a session, a turn of that session, a commit. */
  readonly sessionId: string | null;
  readonly turn: number | null;
  readonly commit: string | null;
  readonly by: CallerName;
  readonly at: number;
}

/** Whose memories are looked at. Null: of all. */
export interface MemoryScope {
  readonly project: string | null;
  /** Of this role, and what is for every role. */
  readonly role: string | null;
}

export interface MemoryFilter extends MemoryScope {
  readonly kind: MemoryKind | null;
  readonly tag: string | null;
}

/** A session reaches what is of its own project, for its own role or for every role. */
export function isWithin({ project, role }: Pick<Memory, "project" | "role">, scope: MemoryScope): boolean {
  return (
    (scope.project === null || scope.project === project) &&
    (scope.role === null || role === null || scope.role === role)
  );
}
