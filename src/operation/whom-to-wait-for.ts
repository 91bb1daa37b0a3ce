/**
 * Whom a wait without names is about: of everybody of a role, or of everybody, those of whose last request the end has
 * not been seen, and those that failed. Decided here for every surface, at the moment of the call; a longer wait goes on
 * with the ids that its answer tells.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import { isSuccess } from "../session/judge-wait.ts";
import { isEndUnseen } from "../session/notice.ts";
import type { Session } from "../session/session.ts";
import type { WakeReason } from "../session/wake.ts";
import type { OperationContext } from "./contract.ts";
import type { Found } from "./waiter.ts";
import { waitOn } from "./waiter.ts";

interface Request {
  readonly role: string | undefined;
  readonly mode: "any" | "all";
  readonly since: number | undefined;
  readonly wanted: ReadonlySet<WakeReason>;
}

export async function whomToWaitFor(context: OperationContext, request: Request): Promise<ReadonlySet<string>> {
  const { store, scope, caller } = context;
  const everybody = scope
    .living()
    .filter(({ identity }) => request.role === undefined || identity.role === request.role)
    // Waiting for itself would never end.
    .filter(({ id }) => caller.kind !== "session" || id !== caller.id);
  const now = { wanted: request.wanted, since: undefined, timeoutMs: 0, isEnough: () => true };
  const waiters = await waitOn(context, new Set(everybody.map(({ id }) => id)), now);
  const asked = waiters.flatMap((waiter) => {
    const session = store.registry.get(waiter.sessionId);
    const found = waiter.found();
    return session === undefined || !isAsked(found, request.since) ? [] : [{ session, found }];
  });
  const counted = asked.filter(({ session, found }) => counts(session, found, request.mode));
  const chosen = counted.length > 0 ? counted : asked;
  if (chosen.length === 0) throw nobody(request.role);
  return new Set(chosen.map(({ session }) => session.id));
}

/** Something was asked of it, and whoever asks does not know the outcome yet. */
function isAsked(found: Found | null, since: number | undefined): boolean {
  if (found === null) return true;
  if (found.reason === "nothing-to-wait-for") return found.isUnanswered;
  return !isOver(found) || since === undefined || found.seq > since;
}

/**
 * What went well and is over would end a wait for any of them at once, and so would a failure that somebody has looked at
 * already. Waiting for all, a failure makes the whole fail; what went well is no hindrance, unless it is not what is wanted.
 */
function counts(session: Session, found: Found | null, mode: "any" | "all"): boolean {
  if (found === null || !isOver(found)) return true;
  if (isSuccess(session, { reason: found.reason })) return mode === "all" && found.isDone;
  return mode === "all" || isEndUnseen(session);
}

type Over = Found & { readonly reason: WakeReason };

/** Nothing more comes of what was asked: it does not wait for an answer. */
function isOver(found: Found): found is Over {
  return found.reason === "exited" || found.reason.startsWith("turn-");
}

function nobody(role: string | undefined): ReeveError {
  const who = role === undefined ? "No session" : `No session of the role ${role}`;
  return new ReeveError({
    code: "nothing-to-wait-for",
    kind: "conflict",
    message: `${who} is at work; see reeve list.`,
  });
}
