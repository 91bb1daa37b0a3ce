/**
 * A session that must stay: somebody holds it, with a reason and until a
 * certain time. Its idle time and its age do not end it, no time-out does, a
 * session may not end it, the operator must say that they mean it, and nothing
 * of it is pruned, also after its end. It has nothing to do with `wish.held`,
 * which says that Reeve does not start a session by itself (barred.ts).
 */
import type { Moment } from "../platform/clock.ts";
import { durationText } from "../platform/duration.ts";
import { amend } from "./amend.ts";
import { type Caller, type CallerName, callerName, OPERATOR, SYSTEM } from "./caller.ts";
import type { Context } from "./input.ts";
import { elapsedMs, moment, momentOf } from "./moment.ts";
import { changed, type Outcome, refuse, unchanged } from "./outcome.ts";
import type { Session } from "./session.ts";
import { flag, instant, object, type Of, text, textOf } from "./shape.ts";

export const stay = object({
  reason: text,
  by: textOf<CallerName>(),
  since: moment,
  forMs: instant,
  /** Somebody was told that it ends soon. */
  isEnding: flag,
});
export interface Stay extends Of<typeof stay> {}

/** Long enough for a review tomorrow; who needs longer says so. */
export const DEFAULT_HOLD_MS = 86_400_000;
export const LONGEST_HOLD_MS = 30 * 86_400_000;
export const LONGEST_HOLD_REASON = 500;
/** Whoever is told of the end of a hold has so long to do something about it; of a short hold, half of it. */
const WARNED_MS = 3_600_000;

/** Whether it must stay: asked by everything that would end it or remove what is kept of it. */
export function mustStay({ wish }: Pick<Session, "wish">): boolean {
  return wish.stay !== null;
}

/** How long it is still held; by the wall clock that is `stay.since.at + stay.forMs`. */
export function holdLeftMs({ since, forMs }: Stay, now: Moment): number {
  return Math.max(0, forMs - elapsedMs(since, now));
}

/** How long before its end that is told. */
export function warningMs({ forMs }: Stay): number {
  return Math.min(WARNED_MS, forMs / 2);
}

export function untilOf({ since, forMs }: Stay): number {
  return since.at + forMs;
}

export function newStay(reason: string, forMs: number, caller: Caller, since: Moment): Stay {
  return { reason, by: callerName(caller), since, forMs, isEnding: false };
}

/** Again with another reason or time: that counts from now on. */
export function hold(
  session: Session,
  { reason, forMs }: { readonly reason: string; readonly forMs: number },
  context: Context,
): Outcome {
  const { caller = SYSTEM } = context;
  const refused = refusedTo(session, caller, "changed");
  if (refused !== null) return refused;
  const next = newStay(reason, forMs, caller, momentOf(context));
  return changed({
    session: amend(session, { wish: { stay: next } }),
    events: [{ type: "session-held", why: reason, untilAt: untilOf(next) }],
  });
}

export function releaseHold(session: Session, { caller = SYSTEM }: Context): Outcome {
  const { stay: held } = session.wish;
  if (held === null) return unchanged(session);
  const refused = refusedTo(session, caller, "released");
  if (refused !== null) return refused;
  return changed({
    session: amend(session, { wish: { stay: null } }),
    events: [{ type: "hold-released", why: held.reason }],
  });
}

/** What somebody else holds, a session leaves alone. */
function refusedTo({ wish, identity }: Session, caller: Caller, what: "changed" | "released"): Outcome | null {
  if (wish.stay === null || caller.kind !== "session" || wish.stay.by === callerName(caller)) return null;
  const by = wish.stay.by === callerName(OPERATOR) ? "the operator" : "another session";
  return refuse(
    "session-held",
    `Session ${identity.name} is held by ${by}, so its hold cannot be ${what} by a session.`,
  );
}

/** Why it cannot be ended as asked; null: it can. */
export function whyNotEnded(
  session: Session,
  isMeant: boolean,
  { caller = SYSTEM }: Context,
): { readonly code: string; readonly message: string } | null {
  const { wish, identity } = session;
  if (wish.stay === null || (isMeant && caller.kind !== "session")) return null;
  const until = new Date(untilOf(wish.stay)).toISOString();
  const told = `Session ${identity.name} is held until ${until}: ${wish.stay.reason}`;
  const next =
    caller.kind === "session"
      ? "Only the operator can end it; a session that holds it can release it first."
      : `End it with --even-if-held, or release it first: reeve hold --release ${identity.name}.`;
  return { code: "session-held", message: `${sentence(told)} ${next}` };
}

/** It lasts as long as it was asked for, whatever the wall clock says. */
export function holdLapsed(session: Session, context: Context): Outcome {
  const { stay: held } = session.wish;
  if (held === null || holdLeftMs(held, momentOf(context)) > 0) return unchanged(session);
  return changed({
    session: amend(session, { wish: { stay: null } }),
    events: [{ type: "hold-lapsed", why: held.reason, afterSeconds: held.forMs / 1_000 }],
  });
}

export function holdEnding(session: Session, context: Context): Outcome {
  const { stay: held } = session.wish;
  if (held === null || held.isEnding || holdLeftMs(held, momentOf(context)) > warningMs(held))
    return unchanged(session);
  return changed({
    session: amend(session, { wish: { stay: { ...held, isEnding: true } } }),
    events: [{ type: "hold-ending", why: held.reason, untilAt: untilOf(held) }],
  });
}

export function holdSentence({ reason, forMs }: Stay): string {
  return sentence(`Held for ${durationText(forMs)}: ${reason}`);
}

function sentence(written: string): string {
  return /[.!?]$/.test(written) ? written : `${written}.`;
}
