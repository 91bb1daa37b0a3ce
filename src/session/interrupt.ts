/**
 * Somebody wants the turn under way to stop, and sends nothing after it. The
 * wish is about that turn only: when it ends, however it does, the wish is over.
 */
import { amend } from "./amend.ts";
import { askedFor, callerName, SYSTEM } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { Context } from "./input.ts";
import type { Change, Outcome } from "./outcome.ts";
import { changed, refuse, unchanged } from "./outcome.ts";
import type { Session } from "./session.ts";

export function interrupt(session: Session, context: Context): Outcome {
  const { identity, process, conversation } = session;
  const { name } = identity;
  if (process.exit !== null || (session.state !== "running" && session.state !== "paused"))
    return refuse("not-running", `Session ${name} is not running, so there is no turn to interrupt; see reeve list.`);
  if (process.suspended)
    return refuse(
      "suspended",
      `Session ${name} cannot be interrupted while its processes are stopped; run \`reeve resume ${name}\` first.`,
    );
  const { status } = conversation.activity;
  if (status === "awaiting-approval")
    return refuse("awaiting-approval", `Session ${name} asks for approval; answer it: reeve deny ${name}.`);
  if (status === "awaiting-input")
    return refuse("awaiting-input", `Session ${name} asks something; answer it with reeve send or reeve attach.`);
  if (!conversation.turnOpen || isAskedToStop(session)) return unchanged(session);
  const { caller = SYSTEM, now } = context;
  const text = "Its turn is to be interrupted.";
  const reason = { code: "interrupt", text, evidence: askedFor(caller, now) };
  const wished = { incarnation: process.incarnation, turn: conversation.turns, by: callerName(caller), failed: false };
  return changed({
    session: amend(session, { wish: { interrupt: wished } }),
    events: [{ type: "interrupt-requested", turn: conversation.turns, reason }],
  });
}

/** The turn under way, and that was not tried to the end. */
export function isAskedToStop(session: Session): boolean {
  return isAboutTurn(session) && session.wish.interrupt?.failed === false;
}

function isAboutTurn({ wish: { interrupt: asked }, process, conversation }: Session): boolean {
  return (
    asked !== null &&
    conversation.turnOpen &&
    asked.turn === conversation.turns &&
    asked.incarnation === process.incarnation
  );
}

/** It was tried, and the turn goes on. */
export function withFailedInterrupt(session: Session): Session {
  const asked = session.wish.interrupt;
  return asked === null || !isAskedToStop(session)
    ? session
    : amend(session, { wish: { interrupt: { ...asked, failed: true } } });
}

/** What became of the turn: who wanted it to stop is told with its end, and wants no other to. */
export function interruptDone(before: Session, { session, events }: Change): Change {
  const asked = before.wish.interrupt;
  if (asked === null || isAboutTurn(session)) return { session, events };
  const told = events.map((event): SessionEvent =>
    event.type === "turn-interrupted" && event.turn === asked.turn ? { ...event, askedBy: asked.by } : event,
  );
  return { session: amend(session, { wish: { interrupt: null } }), events: told };
}
