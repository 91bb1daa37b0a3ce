/**
 * Who makes a request. A surface makes a caller from what it can prove (the
 * socket's peer, later a session's token), never from what a request says. It
 * is recorded with everything that was asked for, as the text `CallerName`.
 */
import type { Evidence } from "./session.ts";

export type Caller =
  /** Whoever may use the daemon's socket: the person whose home this is. */
  | { readonly kind: "operator" }
  /** The agent in a session, for itself and for what it started. */
  | { readonly kind: "session"; readonly id: string }
  /** Reeve itself. */
  | { readonly kind: "system" };

export type CallerName = "operator" | "system" | `session:${string}`;

export const OPERATOR: Caller = { kind: "operator" };
export const SYSTEM: Caller = { kind: "system" };

export function callerName(caller: Caller): CallerName {
  return caller.kind === "session" ? `session:${caller.id}` : caller.kind;
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
