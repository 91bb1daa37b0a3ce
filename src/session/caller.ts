/**
 * Who makes a request. A surface makes a caller from what it can prove (the
 * socket's peer, later a session's token), never from what a request says. It
 * is recorded with everything that was asked for, as the text `CallerName`. How
 * it came here (`via`) is what the request says: recorded beside it, and never
 * looked at to decide anything.
 */
import type { Surface } from "../platform/surface.ts";
import type { Evidence } from "./session.ts";

export type Caller =
  /** Whoever may use the daemon's socket: the person whose home this is. */
  | { readonly kind: "operator"; readonly via?: Surface }
  /** The agent in a session, for itself and for what it started. */
  | { readonly kind: "session"; readonly id: string; readonly via?: Surface }
  /** Reeve itself. */
  | { readonly kind: "system" };

export type CallerName = "operator" | "system" | `session:${string}`;

export const OPERATOR: Caller = { kind: "operator" };
export const SYSTEM: Caller = { kind: "system" };

export function callerName(caller: Caller): CallerName {
  return caller.kind === "session" ? `session:${caller.id}` : caller.kind;
}

/** The same caller, with how it came here. */
export function reachedBy(caller: Caller, via: Surface): Caller {
  return caller.kind === "system" ? caller : { ...caller, via };
}

/** How it came here; null where that is not known, or it is Reeve itself. */
export function surfaceOf(caller: Caller): Surface | null {
  return caller.kind === "system" ? null : (caller.via ?? null);
}

/** What an event says of whoever asked for it. */
export function signature(caller: Caller): { readonly caller: CallerName; readonly via?: Surface } {
  const via = surfaceOf(caller);
  return { caller: callerName(caller), ...(via === null ? {} : { via }) };
}

/** What is known of a wish: that this caller had it. */
export function askedFor(caller: Caller, at: number): Evidence {
  switch (caller.kind) {
    case "operator":
      return { source: "operator", detail: "asked for", at };
    case "session":
      return { source: "session", detail: `asked for by session ${caller.id}`, at };
    case "system":
      return { source: "supervisor", detail: "asked for by Reeve itself", at };
  }
}
