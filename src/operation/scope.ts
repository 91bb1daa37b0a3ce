/**
 * Which sessions a caller may reach with an operation: none, itself, its
 * descendants (what it started, and what those started) with itself or without
 * (`below`), or any. The parent of a session is recorded when it is started.
 */
import type { Caller } from "../session/caller.ts";
import type { Session } from "../session/session.ts";
import type { Registry } from "../store/contract.ts";

export type Reach = "none" | "self" | "descendants" | "below" | "any";

/** Who may call an operation, and on which sessions. Reeve itself may call all of them. */
export interface Callers {
  readonly operator: "any";
  readonly session: Reach;
}

export interface Scope {
  has(session: Session): boolean;
  /** In order of creation. */
  sessions(): readonly Session[];
  /** Those of them that have not ended. */
  living(): readonly Session[];
  /** Null: all of them, and what concerns no session. */
  ids(): readonly string[] | null;
}

export function scopeOf(registry: Registry, caller: Caller, callers: Callers): Scope {
  const reach = caller.kind === "session" ? callers.session : "any";
  if (caller.kind !== "session" || reach === "any")
    return { has: () => true, sessions: () => registry.all(), living: () => registry.living(), ids: () => null };
  const has = (session: Session): boolean => {
    // A record from a file may claim to descend from itself.
    if (session.id === caller.id) return reach === "self" || reach === "descendants";
    return (reach === "descendants" || reach === "below") && descends(registry, session, caller.id);
  };
  const sessions = (): readonly Session[] => registry.all().filter(has);
  const living = (): readonly Session[] => registry.living().filter(has);
  return { has, sessions, living, ids: () => sessions().map(({ id }) => id) };
}

function descends(registry: Registry, session: Session, from: string): boolean {
  return (
    session.identity.parentId === from ||
    forebears(registry, session).some(({ identity }) => identity.parentId === from)
  );
}

/** Who started it, who started that one, and so on. A record from a file may name itself among them: each is there once. */
export function forebears(registry: Registry, session: Session): readonly Session[] {
  const found = new Map([[session.id, session]]);
  let { parentId } = session.identity;
  for (let parent = parentId === null ? undefined : registry.get(parentId); parent && !found.has(parent.id);) {
    found.set(parent.id, parent);
    ({ parentId } = parent.identity);
    parent = parentId === null ? undefined : registry.get(parentId);
  }
  return [...found.values()].slice(1);
}

/** For whoever is refused. */
export const REACH_WORDS = {
  none: "only the operator may",
  self: "a session may call it on itself, the operator on any",
  descendants: "a session may call it on itself and on the sessions it started, the operator on any",
  below: "a session may call it on the sessions it started but not on itself, the operator on any",
  any: "anybody may",
} as const satisfies Record<Reach, string>;
