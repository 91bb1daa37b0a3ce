/**
 * Answers what an approval rule decides in the commit that records the
 * question. So nobody is ever told of a question that needs nobody: no item is
 * opened for it, nobody is woken, and whoever waits for the session waits on.
 */
import { answer } from "./apply-approval.ts";
import type { Approval } from "./approval.ts";
import { byReeve } from "./by-reeve.ts";
import { SYSTEM } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { Context } from "./input.ts";
import type { Change } from "./outcome.ts";
import type { Session } from "./session.ts";

/** `change`: what an observation made of the session `before`. */
export function applyRules(before: Session, change: Change, context: Context): Change {
  const asked = change.session.conversation.approvals;
  if (asked === before.conversation.approvals) return change;
  const known = new Set(before.conversation.approvals.map(({ id }) => id));
  return asked.filter(({ id }) => !known.has(id)).reduce((now, approval) => ruled(now, approval, context), change);
}

function ruled(change: Change, approval: Approval, context: Context): Change {
  const ruling = mayRule(change.session) ? (context.rulingOn?.(change.session, approval) ?? null) : null;
  if (ruling === null) return change;
  const command = { type: "answer", approvalId: approval.id, ...ruling } as const;
  const answered = answer(change.session, command, { ...context, caller: SYSTEM });
  if (answered.refused !== null) return change;
  const marked = change.events.map((event): SessionEvent =>
    event.type === "approval-requested" && event.approval.id === approval.id ? { ...event, rule: ruling.rule } : event,
  );
  return {
    session: byReeve(answered.session, "answer", context.now),
    events: [...marked, ...answered.events],
  };
}

/** Of a record that came from a file nothing is answered. */
export function mayRule({ wish, process }: Session): boolean {
  return process.exit === null && wish.held === null;
}
